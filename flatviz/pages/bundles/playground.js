var flatvizPlayground=(()=>{var jt=Object.defineProperty;var bs=Object.getOwnPropertyDescriptor;var xs=Object.getOwnPropertyNames;var ys=Object.prototype.hasOwnProperty;var vs=(r,t)=>{for(var s in t)jt(r,s,{get:t[s],enumerable:!0})},ks=(r,t,s,a)=>{if(t&&typeof t=="object"||typeof t=="function")for(let e of xs(
t))!ys.call(r,e)&&e!==s&&jt(r,e,{get:()=>t[e],enumerable:!(a=bs(t,e))||a.enumerable});return r};var Ms=r=>ks(jt({},"__esModule",{value:!0}),r);var Ks={};vs(Ks,{default:()=>Hs,mount:()=>fs});function B(){let{body:r,documentElement:t}=document;return r.dataset.jpThemeLight?r.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Yt(r){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(r);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",r),()=>{
s.disconnect(),t.removeEventListener("change",r)}}function Qt(r){r.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return r.addEventListener("keydown",t),()=>r.removeEventListener("keydown",t)}var Q=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let a=this.spare;return this.spare=null,a}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},W=(r,t)=>{let s=0;for(let a=0;a<r.length;a++)
s+=r[a]*t[a];return s},rt=r=>Math.sqrt(W(r,r)),C=(r,t,s=1)=>r.map((a,e)=>a+s*t[e]),q=r=>new Float64Array(r),Ss=1e-12,As={bowl:({at:[r,t],h:s},a,e,i)=>(i[0]+=
s*(a-r),i[1]+=s*(e-t),.5*s*((a-r)**2+(e-t)**2)),dent:({at:[r,t],depth:s,width:a},e,i,o)=>{let[n,h]=Array.isArray(a)?a:[a,a],l=s*Math.exp(-.5*
(((e-r)/n)**2+((i-t)/h)**2));return o[0]+=l*(e-r)/(n*n),o[1]+=l*(i-t)/(h*h),-l},valley:({k:r,a:t,b:s},a,e,i)=>{let o=e-t*a*a-s;return i[0]-=
2*r*o*t*a,i[1]+=r*o,.5*r*o*o},wall:({at:r,height:t,soft:s},a,e,i)=>{let o=Math.tanh((a-r)/s);return i[0]+=t*(1-o*o)/(2*s),.5*t*(1+o)},modes:({
a:r,b:t,narrow:s,ratio:a},e,i,o)=>{let n=s*a,h=((e-r[0])**2+(i-r[1])**2)/(2*s**2),l=((e-t[0])**2+(i-t[1])**2)/(2*n**2),d=Math.min(h,l),g=Math.
exp(d-h),m=Math.exp(d-l),c=g/(g+m);return o[0]+=c*(e-r[0])/s**2+(1-c)*(e-t[0])/n**2,o[1]+=c*(i-r[1])/s**2+(1-c)*(i-t[1])/n**2,d-Math.log(g+m)+
Math.log(2)}},Ts=q(2);function Jt(r){return{dim:2,both(t,s){let a=s??Ts;a[0]=a[1]=0;let e=0;for(let i of r)e+=As[i.kind](i,t[0],t[1],a);return e}}}
var St=class{constructor(t){this.widths=t,this.starts=[],this.dim=0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=t[s]*(t[s-
1]+1);this.a=t.map(s=>q(s)),this.d=t.map(s=>q(s))}init(t,s=1){let a=q(this.dim);return this.starts.forEach((e,i)=>{let o=this.widths[i+1]*(this.
widths[i]+1);for(let n=0;n<o;n++)a[e+n]=s*t.normal()/Math.sqrt(this.widths[i])}),a}forward(t,s,a){let{a:e,widths:i,starts:o}=this,n=i.length-
1;for(let h=0;h<i[0];h++)e[0][h]=s[a+h];for(let h=0;h<n;h++){let l=e[h],d=e[h+1],g=i[h],m=i[h+1],c=o[h]+g*m;for(let p=0,f=o[h];p<m;p++){let u=t[c+
p];for(let b=0;b<g;b++)u+=t[f++]*l[b];d[p]=h+1<n?Math.tanh(u):u}}return e[n]}backward(t,s){let{a,d:e,widths:i,starts:o}=this;for(let n=i.length-
2;n>=0;n--){let h=a[n],l=e[n+1],d=e[n],g=i[n],m=i[n+1],c=o[n]+g*m;d.fill(0);for(let p=0,f=o[n];p<m;p++){let u=l[p];s[c+p]+=u;for(let b=0;b<g;b++,
f++)s[f]+=u*h[b],d[b]+=u*t[f]}if(n>0)for(let p=0;p<g;p++)d[p]*=1-h[p]*h[p]}}},$s=.5*Math.log(2*Math.PI);function Xt(r,{x:t,y:s,noise:a}){let e=s.
length,i=r.widths[0],o=r.widths.at(-1),n=r.d.at(-1);return{dim:r.dim,both(h,l){l&&l.fill(0);let d=0;for(let g=0;g<e;g++){let m=r.forward(h,t,
g*i);if(a){let c=(m[0]-s[g])/a;d+=.5*c*c+Math.log(a)+$s,n[0]=c/a/e}else{let c=-1/0,p=0;for(let f=0;f<o;f++)c=Math.max(c,m[f]);for(let f=0;f<
o;f++)n[f]=Math.exp(m[f]-c),p+=n[f];d+=c+Math.log(p)-m[s[g]];for(let f=0;f<o;f++)n[f]=(n[f]/p-(f===s[g]?1:0))/e}l&&r.backward(h,l)}return d/
e}}}var wt=(r,t)=>r.mean.map((s,a)=>s+Math.exp(r.logStd[a])*t[a]),dt=r=>({mean:r.mean.slice(),logStd:r.logStd.slice()});function J(r,t,s){let a={
value:0,mean:q(r.dim),logStd:q(r.dim)},e=q(r.dim);for(let i of s){a.value+=r.both(wt(t,i),e)/s.length;for(let o=0;o<e.length;o++)a.mean[o]+=
e[o]/s.length,a.logStd[o]+=e[o]*Math.exp(t.logStd[o])*i[o]/s.length}return a}function At(r,t){let s={value:0,mean:q(r.mean.length),logStd:q(
r.mean.length)};for(let a=0;a<r.mean.length;a++){let e=Math.exp(-2*t.logStd[a]),i=r.mean[a]-t.mean[a],o=Math.exp(2*r.logStd[a])*e;s.value+=.5*
(o+i*i*e-1)+t.logStd[a]-r.logStd[a],s.mean[a]=e*i,s.logStd[a]=o-1}return s}function Tt(r,t,s){let a=t.mean.map((l,d)=>Math.exp(2*r.logStd[d])*
l),e=t.logStd.map(l=>l/2),i=W(t.mean,a),o=Math.max(i+W(t.logStd,e),1e-300),n=s/Math.sqrt(o),h={mean:a.map(l=>n*l),logStd:e.map(l=>n*l)};return{
delta:h,share:i/o,there:{mean:C(r.mean,h.mean),logStd:C(r.logStd,h.logStd)}}}var Es=(r,t)=>{let s=t/(rt(r)+Ss);return r.map(a=>a*s)},qs=.2,Mt=.9,
$t=r=>({mean:q(r),squares:q(r+1),filled:0});function Zt(r,t,s,a,e,{rate:i,momentum:o,T:n}){let h=At(r,a),l=r.mean.length,d=q(l),g=q(l),m=n||
1,c=r.logStd.map(Math.exp);for(let f=0;f<l;f++){let u=Math.exp(-2*a.logStd[f]),b=1/(c[f]*c[f]);if(d[f]=s.mean[f]/m,g[f]=s.logStd[f]/m,n)for(let y of e){
let v=u*(r.mean[f]-a.mean[f])+(u-b)*c[f]*y[f];d[f]+=v/e.length,g[f]+=v*c[f]*y[f]/e.length}}t.filled=Mt*t.filled+1-Mt;let p=t.squares.map((f,u)=>{
let b=u?g[u-1]*g[u-1]:d.reduce((y,v,w)=>y+v*v*c[w]*c[w],0);return t.squares[u]=Mt*f+(1-Mt)*b,1/(1+Math.sqrt(t.squares[u]/t.filled))});for(let f=0;f<
l;f++)t.mean[f]=o*t.mean[f]+p[0]*c[f]*c[f]*d[f],r.mean[f]-=i*t.mean[f],r.logStd[f]-=.5*qs*i*p[f+1]*g[f];return h}function Et(r,t,s,a,e,i){let o=J(
r,t,e);return{from:dt(t),g:o,pull:Zt(t,s,o,a,e,i)}}function Dt(r,t,s,a,e,i){if(i.radius===0)return Et(r,t,s,a,e,i);let o=dt(t),n=J(r,t,e),h=Tt(
t,n,i.radius),l=J(r,h.there,e);return{from:o,g:n,...h,worst:l,pull:Zt(t,s,l,a,e,i)}}function Bt(r,t,s,a,{rate:e,momentum:i,T:o,radius:n=0}){
let h=t.slice(),l=q(t.length),d=r.both(t,l),g=n?Es(l,n):null,m=q(t.length),c=g?r.both(C(t,g),m):(m.set(l),d);for(let p=0;p<t.length;p++)s[p]=
i*s[p]+m[p]+o*Math.exp(-2*a.logStd[p])*(t[p]-a.mean[p]),t[p]-=e*s[p];return{from:h,value:d,at:c,g:l,e:g,there:m}}function Is(r,t,s,a,{rate:e,
T:i}){let o=q(t.length),n=r.both(t,o);for(let h=0;h<t.length;h++){let l=i*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-e*(o[h]+l)+Math.sqrt(
2*e*i)*a[h]}return{value:n,g:o}}function Ls(r,t,s,a){let e=q(a.length),i=r.both(wt(t,a),e);for(let o=0;o<a.length;o++)e[o]=e[o]*Math.exp(t.logStd[o])/
s+a[o];return{value:i/s+.5*W(a,a),slope:e,mean:i}}function Ps(r,t,s,a,e,i,o){let n=C(s,a.slope,-.5*e);for(let h=0;h<i;h++)t=C(t,n,e),a=r(t),
n=C(n,a.slope,h<i-1?-e:-.5*e),o?.push(t);return{z:t,momentum:n,at:a}}var Ct=class{t;error;accept;first;average;constructor(t,s=.8){Object.assign(
this,{t:0,error:0,log:Math.log(t),average:Math.log(t),first:Math.log(t),accept:s})}get size(){return Math.exp(this.log)}follow(t){this.t+=1,
this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=this.t**-.75*
(this.log-this.average)}settle(){Object.assign(this,{t:0,error:0,log:this.average,first:this.average})}};function Os(r,t,s,a,e,i,o,{time:n=Math.
PI/2,most:h=500,path:l=void 0}={}){let d=Math.min(h,Math.ceil(e*n/o)),g=Ps(r,t,a,s,o,d,l),m=s.value+.5*W(a,a)-g.at.value-.5*W(g.momentum,g.momentum),
c=Number.isFinite(m)?Math.exp(Math.min(0,m)):0;return i<c?{z:g.z,at:g.at,rate:c,n:d,taken:!0}:{z:t,at:s,rate:c,n:d,taken:!1}}var X={vi:!0,sabma:!0},qt={sgld:!0,hmc:!0},lt=class{settings;random;loss;method;prior;steps;gradients;kept;constructor(t,s,a,e,i,o){Object.assign(
this,{method:t,loss:s,prior:a,settings:i,random:new Q(o),steps:0,gradients:0,kept:[]}),this.q=dt(e),this.velocity=$t(s.dim),t==="hmc"&&(this.
z=e.mean.map((n,h)=>(n-a.mean[h])/Math.exp(a.logStd[h])),this.size=new Ct(.1))}get finite(){return this.q.mean.every(t=>Number.isFinite(t)&&
Math.abs(t)<1e6)&&this.q.logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(this.loss.
dim))}step(){let{method:t,loss:s,q:a,velocity:e,prior:i,settings:o}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let n=this.noise();this.last=
(t==="vi"?Et:Dt)(s,a,e,i,n,o),this.last.noise=n,this.gradients+=n.length*(this.last.worst?2:1)}else if(t==="gd"||t==="sam"){let n=t==="sam"?
o.radius:0;this.last=Bt(s,a.mean,e.mean,i,{...o,radius:n}),this.gradients+=n?2:1}else t==="sgld"?(this.last=Is(s,a.mean,i,this.random.normals(
s.dim),o),this.gradients+=1,this.keep(a.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:a,random:e}=this,
i=l=>Ls(t,s,a.T,l),o=[],n=e.normals(t.dim),h=.5+e.uniform();this.last=Os(i,this.z,i(this.z),n,h,e.uniform(),this.size.size,{path:o,most:a.most??
200}),this.last.path=o.map(l=>wt(s,l)),this.z=this.last.z,this.gradients+=this.last.n,this.steps<=60&&this.size.follow(this.last.rate),this.
steps===60&&this.size.settle(),this.q.mean.set(wt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.push(t),this.
kept.length>400&&this.kept.shift())}members(t,s){if(X[this.method])return s.slice(0,t).map(a=>wt(this.q,a));if(qt[this.method]&&this.kept.length){
let a=Math.max(1,Math.floor(this.kept.length/2/t));return this.kept.filter((e,i)=>(this.kept.length-1-i)%a===0).slice(-t)}return[this.q.mean]}};
function Fs(r,t,s){let a=.001/Math.max(rt(s),1e-300),e=l=>{let d=q(t.length);return r.both(C(t,s,l*a),d),d},[i,o,n,h]=[e(1),e(-1),e(2),e(-2)];
return i.map((l,d)=>(8*(i[d]-o[d])-(n[d]-h[d]))/(12*a))}function ct(r,t,s,a=40,e=null){let i=t.length,o=Math.min(i,a),n=[],h=[],l=[],d=new Q(
0).normals(i);for(let{vector:c}of e??[])d=C(d,c,10*Math.sqrt(i));d=d.map(c=>c/rt(d));for(let c=0;c<o;c++){n.push(d);let p=Fs(r,t,d);h.push(W(
d,p));for(let u=0;u<2;u++)for(let b of n)p=C(p,b,-W(b,p));let f=rt(p);if(c===o-1||f<1e-9)break;l.push(f),d=p.map(u=>u/f)}let g=n.length,m=Array.
from({length:g},(c,p)=>Float64Array.from({length:g},(f,u)=>p===u?h[p]:Math.abs(p-u)===1?l[Math.min(p,u)]:0));return Ns(m).slice(0,s).map(({value:c,
vector:p})=>{let f=q(i);return n.forEach((u,b)=>{for(let y=0;y<i;y++)f[y]+=p[b]*u[y]}),{value:c,vector:f}})}function Ns(r){let t=r.length,s=r.
map((a,e)=>Float64Array.from({length:t},(i,o)=>e===o?1:0));for(let a=0;a<40;a++){let e=0;for(let i=0;i<t;i++)for(let o=i+1;o<t;o++){if(e+=r[i][o]**
2,Math.abs(r[i][o])<1e-300)continue;let n=(r[o][o]-r[i][i])/(2*r[i][o]),h=(n>=0?1:-1)/(Math.abs(n)+Math.hypot(n,1)),l=1/Math.hypot(h,1),d=h*
l;for(let g=0;g<t;g++){let m=r[g][i],c=r[g][o];r[g][i]=l*m-d*c,r[g][o]=d*m+l*c}for(let g=0;g<t;g++){let m=r[i][g],c=r[o][g];r[i][g]=l*m-d*c,
r[o][g]=d*m+l*c}for(let g=0;g<t;g++){let m=s[g][i],c=s[g][o];s[g][i]=l*m-d*c,s[g][o]=d*m+l*c}}if(e<1e-24)break}return r.map((a,e)=>({value:a[e],
vector:s.map(i=>i[e])})).sort((a,e)=>e.value-a.value)}var zt=[];for(let r=-4.5;r<=4.5;r+=.5)for(let t=-4.5;t<=4.5;t+=.5)zt.push([r,t,Math.exp(
-.5*(r*r+t*t))]);var js=zt.reduce((r,t)=>r+t[2],0);function It(r,t){let[s,a]=t.logStd.map(Math.exp),e=q(2),i=0;for(let[o,n,h]of zt)e[0]=t.mean[0]+
s*o,e[1]=t.mean[1]+a*n,i+=h*r.both(e,null);return i/js}function Wt(r,t,s){let a=r.both(t,null);for(let e=1;e<=4;e++)for(let i=0;i<32;i++){let o=s*
e/4,n=2*Math.PI*i/32;a=Math.max(a,r.both([t[0]+o*Math.cos(n),t[1]+o*Math.sin(n)],null))}return a}function Rt(r,t,s){let a=-1/0,e=0;for(let i of r)
a=Math.max(a,i);for(let i=0;i<r.length;i++)t[s+i]=Math.exp(r[i]-a),e+=t[s+i];for(let i=0;i<r.length;i++)t[s+i]/=e}function ts(r,t,s){let a=r.
widths[0],e=r.widths.at(-1),i=s.length/a,o=q(i*e),n=q(i*e);for(let h of t){for(let l=0;l<i;l++)Rt(r.forward(h,s,l*a),n,l*e);for(let l=0;l<o.
length;l++)o[l]+=n[l]/t.length}return o}function ss(r,t){let s=r.length/t.length;return t.reduce((a,e,i)=>a-Math.log(Math.max(r[i*s+e],1e-300)),
0)/t.length}function es(r,t){let s=r.length/t.length;return t.filter((a,e)=>{for(let i=0;i<s;i++)if(r[e*s+i]>r[e*s+a])return!1;return!0}).length/
t.length}function as(r,t,s=15){let a=r.length/t.length,e=q(s);return t.forEach((i,o)=>{let n=0;for(let d=1;d<a;d++)r[o*a+d]>r[o*a+n]&&(n=d);
let h=r[o*a+n],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));e[l]+=(n===i?1:0)-h}),e.reduce((i,o)=>i+Math.abs(o),0)/t.length}function x(r,t={},...s){let a=document.createElement(r);for(let[e,i]of Object.entries(t))e.startsWith("on")?a.addEventListener(e.slice(2),i):
i!==null&&i!==!1&&a.setAttribute(e,i===!0?"":i);return a.append(...s.filter(e=>e!=null)),a}var D=(r,t,s,a={})=>x("button",{type:"button",title:t,
onclick:s,...a},r);var I=r=>Number.isFinite(r)?Number(r.toPrecision(3)).toString():"–",j=r=>METHOD_STYLES[r],L=r=>j(r)[B()?2:1],Z=class{stops;say;constructor(t,s,a,e,{
say:i=n=>String(n),help:o=""}={}){Object.assign(this,{stops:s,say:i}),this.input=x("input",{type:"range",min:0,max:s.length-1,step:1,"aria-l\
abel":t}),this.text=x("output"),this.node=x("div",{class:"pg-slider",title:o||null},x("span",{},t),this.text,this.input),this.input.addEventListener(
"input",()=>{this.told(),e(this.value,!1)}),this.input.addEventListener("change",()=>e(this.value,!0)),this.value=a}get value(){return this.
stops[Number(this.input.value)]}set value(t){let s=this.stops.map(a=>Math.abs(a-t));this.input.value=s.indexOf(Math.min(...s)),this.told()}told(){
this.text.textContent=this.say(this.value),this.input.setAttribute("aria-valuetext",this.text.textContent)}};function gt(r,t,s,a){let e=x("s\
elect",{"aria-label":r},...t.map(([i,o])=>x("option",{value:i,selected:i===s},o)));return e.addEventListener("change",()=>a(e.value)),x("lab\
el",{class:"pg-menu"},x("span",{},r),e)}var R=class{most;least;width;height;dense;paint;constructor(t,{ratio:s,label:a,least:e=0,most:i=1/0}){
this.canvas=x("canvas",{role:"img","aria-label":a}),this.node=x("div",{class:"pg-board"},this.canvas),Object.assign(this,{paint:t,ratio:s,least:e,
most:i,width:0,height:0}),new ResizeObserver(()=>this.fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.
min(this.most,Math.max(this.least,t*this.ratio)));if(!t||t===this.width&&s===this.height)return;let a=Math.min(2,devicePixelRatio||1);Object.
assign(this,{width:t,height:s,dense:a,resized:!0}),Object.assign(this.canvas,{width:t*a,height:s*a}),this.canvas.style.height=`${s}px`,this.
draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.width)return;let t=this.canvas.getContext("2d");t.setTransform(this.
dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap="round",this.paint(t,this.width,this.height)}say(t){this.
canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},pt=class{seconds;frame;constructor(t,s){Object.assign(this,
{frame:s,playing:!1,visible:!1,request:0,last:0,seconds:[]}),new IntersectionObserver(([a])=>{this.visible=a.isIntersecting,this.wake()},{threshold:.05}).
observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=performance.now();let t=s=>{
if(this.request=0,!this.playing||!this.visible)return;let a=(s-this.last)/1e3;this.last=s,this.seconds.push(a),this.seconds.length>120&&this.
seconds.shift(),this.request=requestAnimationFrame(t),this.frame(Math.min(a,.1))};this.request=requestAnimationFrame(t)}get rate(){return this.
seconds.length/this.seconds.reduce((t,s)=>t+s,0)}},nt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},Cs={light:{ink:"\
#1f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{
ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"#3a434d",low:[25,43,54],high:[74,63,44],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},O=()=>Cs[B()?
"dark":"light"];function T(r,t,s,a,{color:e=O().ink,size:i=13,align:o="left",weight:n=400,halo:h=!0,base:l="middle"}={}){r.font=`${n} ${i}px\
 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`,r.textAlign=o,r.textBaseline=l,h&&(r.lineWidth=3.5,r.strokeStyle=O().halo,
r.strokeText(t,s,a)),r.fillStyle=e,r.fillText(t,s,a)}function ft(r,t,s,a,e,i){if(r.beginPath(),r.lineWidth=2.5,r.strokeStyle=r.fillStyle=i,t===
"x"){r.moveTo(s-e,a-e),r.lineTo(s+e,a+e),r.moveTo(s+e,a-e),r.lineTo(s-e,a+e),r.stroke();return}if(t==="cross"){r.moveTo(s-e,a),r.lineTo(s+e,
a),r.moveTo(s,a-e),r.lineTo(s,a+e),r.stroke();return}t==="square"?r.rect(s-e,a-e,2*e,2*e):t==="triangle-up"?(r.moveTo(s,a-1.2*e),r.lineTo(s+
1.1*e,a+e),r.lineTo(s-1.1*e,a+e),r.closePath()):r.arc(s,a,e,0,2*Math.PI),r.fill(),r.lineWidth=1.5,r.strokeStyle=O().paper,r.stroke()}function at(r,t,s,a){
let e=[],i=(o,n)=>(a-o)/(n-o);for(let o=0;o+1<t;o++)for(let n=0;n+1<s;n++){let h=o*s+n,l=r[h],d=r[h+1],g=r[h+s+1],m=r[h+s],c=[];l<a!=d<a&&c.
push([n+i(l,d),o]),d<a!=g<a&&c.push([n+1,o+i(d,g)]),m<a!=g<a&&c.push([n+i(m,g),o+1]),l<a!=m<a&&c.push([n,o+i(l,m)]);for(let p=0;p+1<c.length;p+=
2)e.push([...c[p],...c[p+1]])}return e}function Lt(r,t,s,a,e,i,o,{log:n=!1,most:h=0}={}){let l=O(),d=52,g=w=>n?Math.log10(Math.max(w,1e-6)):
w,m=o.flatMap(w=>w.y.filter(Number.isFinite).map(g)),[c,p]=[Math.min(...m),Math.max(...m)];m.length||([c,p]=[0,1]);let f=n?.6:.05*Math.max(1,
Math.abs(p));p-c<f&&([c,p]=[(c+p-f)/2,(c+p+f)/2]);let u=Math.max(h,...o.map(w=>w.x.at(-1)??0),10),b=w=>t+(a-d)*w/u,y=w=>s+e-7-(e-32)*(g(w)-c)/
(p-c);r.strokeStyle=l.line,r.lineWidth=1,r.beginPath(),r.moveTo(t,s+e-.5),r.lineTo(t+a-d,s+e-.5),r.stroke(),T(r,i,t,s+9,{color:l.soft,size:12.5,
halo:!1});let v=[];for(let w of o){r.beginPath(),w.y.forEach((G,H)=>{Number.isFinite(G)&&r.lineTo(b(w.x[H]),y(G))}),r.strokeStyle=w.color,r.
globalAlpha=w.faint?.25:1,r.lineWidth=w.faint?1.2:2,r.stroke(),r.globalAlpha=1;let k=w.y.at(-1);!w.faint&&Number.isFinite(k)&&v.push({x:b(w.
x.at(-1))+6,y:y(k),text:I(k),color:w.color})}v.sort((w,k)=>w.y-k.y),v.forEach((w,k)=>{k&&w.y<v[k-1].y+14&&(w.y=v[k-1].y+14)});for(let w=v.length-
1,k=s+e;w>=0;k=v[w].y-14,w--)v[w].y=Math.min(v[w].y,k);for(let w of v)T(r,w.text,w.x,w.y,{color:w.color,size:12.5,weight:600})}var N=27,P=23,_t=1.2,Ds=1.5,Bs=200,Gt=1500,zs=3,Ht=.15,is=[[78,134,181],[214,133,62]],os={moons:"two moons",circles:"circles",spiral:"spiral\
s",xor:"XOR",gap:"regression with a gap"},ns={one:["one layer of 12",[12]],two:["two layers of 8",[8,8]]};function rs(r,t,s,a){let e=new Float64Array(
r==="gap"?t:2*t),i=r==="gap"?new Float64Array(t):new Int32Array(t);for(let o=0;o<t;o++){let n=o%2,h=a.uniform(),l=n?-1:1;if(r==="gap"){e[o]=
n?-1.8+.8*h:.8+h,i[o]=Math.sin(2.2*e[o])+Ht*a.normal();continue}let[d,g]={moons:()=>n?[.5-1.2*Math.cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:
[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let m=n?.6:1.5;return[m*Math.cos(2*Math.PI*h),m*Math.sin(2*Math.PI*h)]},
spiral:()=>{let m=.25+1.5*h,c=4.2*h+(n?Math.PI:0);return[m*Math.cos(c),m*Math.sin(c)]},xor:()=>{let m=a.uniform()<.5?1:-1;return[m*(.25+1.3*
h),m*l*(.25+1.3*a.uniform())]}}[r]();e[2*o]=d+s*a.normal(),e[2*o+1]=g+s*a.normal(),i[o]=n}return{x:e,y:Array.from(i),noise:r==="gap"?Ht:null}}
var Kt=class{world;x;test;ece;lambda;fields;turn;constructor(t,s){Object.assign(this,{world:t,method:s,shadows:[]}),this.plane=new R((a,e,i)=>this.
drawInputs(a,e,i),{ratio:.8,label:""}),this.loss=new R((a,e,i)=>this.drawLoss(a,e,i),{ratio:.5,label:"",most:230}),this.menu=gt("method",["g\
d","sam","vi","sabma","sgld","hmc"].map(a=>[a,j(a)[0]]),s,a=>{this.method=a,this.shadows=[],t.again()}),this.node=x("div",{class:"pg-pane"},
this.menu,this.plane.node,t.planes?this.loss.node:null)}begin(){let{world:t}=this,s=t.kind==="gap",{radius:a,rho:e,kappa:i,rate:o}=t.settings;
this.plane.reshape(s?.6:.8),this.network=new St([s?1:2,...ns[t.net][1],s?1:2]);let n=this.network.dim,h=new Q(1e3+t.seed),l=t.train,d=s&&!X[this.
method]?.05:1;this.learned=Xt(this.network,l);let g={mean:new Float64Array(n),logStd:new Float64Array(n).fill(Math.log(1.5))},m={mean:this.network.
init(h),logStd:new Float64Array(n).fill(Math.log(.05))},c=this.method==="sgld"?.2:1,p={T:i/l.y.length,rate:o*d*c,momentum:.9,draws:2,radius:this.
method==="sam"?e:a,most:s?30:12};this.learner=new lt(this.method,this.learned,g,m,p,t.seed),this.noise=Array.from({length:30},()=>h.normals(
n)),Object.assign(this,{fields:[],turn:0,x:[],test:[],ece:[],lambda:[],axes:null,near:ct(this.learned,this.learner.q.mean,2),drawn:null,row:0,
lost:!1}),this.refresh(1/0),this.score()}keep(){this.x.length<8||(this.shadows.push({field:this.world.kind==="gap"?this.mean:Float64Array.from(
this.mean,t=>t-.5),x:this.x,test:this.test,ece:this.ece,lambda:this.lambda}),this.shadows.length>8&&this.shadows.shift())}members(){return this.
learner.members(this.world.draws,this.noise)}step(){this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),
{grid:a}=this.world,e=a.length/this.network.widths[0],i=this.world.kind==="gap",o=[0,0];this.fields.length=Math.min(this.fields.length,s.length),
this.turn%=s.length;for(let n=0;n<s.length;n++){if(this.fields[n]&&(n-this.turn+s.length)%s.length>=t)continue;let h=this.fields[n]??=new Float32Array(
e);for(let l=0;l<e;l++){let d=this.network.forward(s[n],a,l*this.network.widths[0]);i?h[l]=d[0]:(Rt(d,o,0),h[l]=o[1])}}t<s.length&&(this.turn+=
t),this.mean=new Float32Array(e);for(let n of this.fields)for(let h=0;h<e;h++)this.mean[h]+=n[h]/s.length}score(){let{test:t,kind:s}=this.world,
a=this.members();if(this.x.push(this.world.steps),s==="gap"){let e=t.y.reduce((i,o,n)=>{let h=a.reduce((l,d)=>{let g=(this.network.forward(d,
t.x,n)[0]-o)/t.noise;return l+Math.exp(-.5*g*g)},0)/a.length;return i-Math.log(Math.max(h,1e-30))+Math.log(t.noise)+.5*Math.log(2*Math.PI)},
0);this.test.push(e/t.y.length),this.ece.push(NaN)}else{let e=ts(this.network,a,t.x);this.test.push(ss(e,t.y)),this.ece.push(as(e,t.y)),this.
right=es(e,t.y)}this.lambda.push(this.lost?NaN:(this.near=ct(this.learned,this.learner.q.mean,2,12,this.near))[0].value)}differ(t){return Math.
sqrt(this.fields.reduce((s,a)=>s+(a[t]-this.mean[t])**2,0)/this.fields.length)}get unsure(){let t=a=>this.differ(Math.round(20*(a+3))),{x:s}=this.
world.train;return{gap:t(-.1),points:s.reduce((a,e)=>a+t(e),0)/s.length}}curve(){this.lost||(this.axes=this.near=ct(this.learned,this.learner.
q.mean,2,12,this.near),this.center=this.learner.q.mean.slice(),this.next=new Float64Array(P*P),this.nextAxes=this.axes,this.row=0)}fill(t){for(;this.
world.planes&&t>0&&this.next&&this.row<P;t--,this.row++)for(let s=0;s<P;s++){let[a,e]=[s,this.row].map(i=>(2*i/(P-1)-1)*_t);this.next[this.row*
P+s]=this.learned.both(C(C(this.center,this.axes[0].vector,a),this.axes[1].vector,-e/2),null)}this.next&&this.row===P&&(this.drawn={values:this.
next,axes:this.nextAxes,center:this.center},this.next=null)}draw(){this.plane.draw(),this.loss.draw()}drawInputs(t,s,a){this.mean&&(this.world.
kind==="gap"?this.drawRegression(t,s,a):this.drawClasses(t,s,a),this.lost&&T(t,"diverged: lower rate or radius",s/2,a/2,{align:"center",weight:700}))}drawClasses(t,s,a){
let e=B(),i=e?[21,25,30]:[255,255,255],o=x("canvas",{width:N,height:N}),n=o.getContext("2d"),h=n.createImageData(N,N),l=O(),d=L(this.method);
this.mean.forEach((u,b)=>{let y=Math.abs(2*u-1),v=is[u>.5?1:0];for(let w=0;w<3;w++)h.data[4*b+w]=i[w]+(v[w]-i[w])*.75*y;h.data[4*b+3]=255}),
n.putImageData(h,0,0),t.imageSmoothingQuality="high",t.drawImage(o,.5,.5,N-1,N-1,0,0,s,a);let g=(u,b)=>{t.beginPath();for(let[y,v,w,k]of at(
u,N,N,b))t.moveTo(y/(N-1)*s,v/(N-1)*a),t.lineTo(w/(N-1)*s,k/(N-1)*a);t.stroke()};t.strokeStyle=l.ink,t.lineWidth=1.2,t.globalAlpha=.28;for(let u of this.
shadows)g(u.field,0);if(t.strokeStyle=d,t.globalAlpha=.55,t.lineWidth=1.1,this.fields.length>1)for(let u of this.fields)g(u,.5);t.globalAlpha=
1,t.lineWidth=2.6,g(this.mean,.5);let{x:m,y:c}=this.world.train,[p,f]=[2.4,2];c.forEach((u,b)=>{let y=(m[2*b]/p+1)/2*s,v=(1-m[2*b+1]/f)/2*a;
t.fillStyle=`rgb(${is[u].map(w=>e?Math.min(255,1.35*w):.8*w).join()})`,t.strokeStyle=l.paper,t.lineWidth=1.5,t.beginPath(),u?t.rect(y-4.5,v-
4.5,9,9):t.arc(y,v,5,0,7),t.fill(),t.stroke()}),T(t,"pale: unsure",8,a-12,{size:12.5,color:l.soft}),T(t,this.fields.length>1?"thin lines: th\
e draws":"one point: one line",s-8,a-12,{size:12.5,color:l.soft,align:"right"})}drawRegression(t,s,a){let e=O(),i=L(this.method),o=this.mean.
length,n=c=>c/(o-1)*s,h=c=>a/2-c/2.6*a/2,l=this.mean.map((c,p)=>2*Math.hypot(this.differ(p),Ht));t.fillStyle=t.strokeStyle=i,t.beginPath(),this.
mean.forEach((c,p)=>t.lineTo(n(p),h(c+l[p])));for(let c=o-1;c>=0;c--)t.lineTo(n(c),h(this.mean[c]-l[c]));t.globalAlpha=.16,t.fill(),t.globalAlpha=
1;let d=(c,p,f)=>{t.beginPath(),c.forEach((u,b)=>t.lineTo(n(b),h(u))),t.globalAlpha=p,t.lineWidth=f,t.stroke(),t.globalAlpha=1};t.strokeStyle=
e.ink;for(let c of this.shadows)d(c.field,.25,1.2);if(t.strokeStyle=i,this.fields.length>1)for(let c of this.fields)d(c,.45,1.1);d(this.mean,
1,2.6);let{x:g,y:m}=this.world.train;t.fillStyle=e.ink,m.forEach((c,p)=>{t.beginPath(),t.arc((g[p]/3+1)/2*s,h(c),3.6,0,7),t.fill()}),T(t,"ba\
nd: two standard deviations",8,a-12,{size:12.5,color:e.soft})}drawLoss(t,s,a){let e=O();if(!this.drawn){T(t,"loss on the plane of the two sh\
arpest directions",2,10,{color:e.soft,size:12.5,halo:!1});return}let{values:i,axes:o,center:n}=this.drawn,h=Math.min(...i),l=i.map(c=>Math.min(
1,(c-h)/this.world.high)),d=x("canvas",{width:P,height:P}),g=d.getContext("2d"),m=g.createImageData(P,P);l.forEach((c,p)=>{for(let f=0;f<3;f++)
m.data[4*p+f]=e.low[f]+(e.high[f]-e.low[f])*c;m.data[4*p+3]=255}),g.putImageData(m,0,0),t.drawImage(d,.5,.5,P-1,P-1,0,0,s,a),t.strokeStyle=B()?
"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1,t.beginPath();for(let c=1;c<10;c++)for(let[p,f,u,b]of at(l,P,P,c/10))t.moveTo(p/(P-
1)*s,f/(P-1)*a),t.lineTo(u/(P-1)*s,b/(P-1)*a);t.stroke(),t.fillStyle=L(this.method);for(let c of this.members()){let p=C(c,n,-1);t.beginPath(),
t.arc((W(p,o[0].vector)/_t+1)/2*s,(1-2*W(p,o[1].vector)/_t)/2*a,3,0,7),t.fill()}T(t,`loss, two sharpest directions · λ₁ = ${I(o[0].value)}`,
6,12,{color:e.ink,size:12.5})}},bt=class{settings;label;seed;frames;planes;constructor(t={}){let{kind:s="spiral",methods:a=["vi","sabma"],planes:e=!0,
label:i="a network",settings:o={}}=t;Object.assign(this,{kind:s,planes:e,label:i,net:"one",seed:1,draws:10,steps:0,frames:0,settings:{radius:2,
rho:.2,kappa:.1,rate:.1,shots:20,noise:.15,...o}}),this.panes=a.map(n=>new Kt(this,n)),this.traces=new R((n,h,l)=>this.drawTraces(n,h,l),{ratio:.16,
label:"",least:190,most:330}),this.build(),this.again(),this.clock=new pt(this.panes[0].node,n=>this.frame(n)),!nt.matches&&t.autoplay!==!1&&
this.play(!0)}build(){let t=e=>(i,o)=>{this.settings[e]=i,o&&(this.forget(),this.again(),this.play(!0))};this.sliders={};let s=(e,i,o,n,h)=>this.
sliders[e]=new Z(i,o,this.settings[e],t(e),{say:n,help:h}).node;this.playButton=D("Play","play or pause",()=>this.play(!this.clock.playing),
{class:"pg-play"}),this.verdict=x("p",{class:"pg-verdict",role:"status"});let a=e=>i=>{e(i),this.forget(),this.again(),this.play(!0)};this.node=
x("section",{class:"pg-network","aria-label":this.label},x("div",{class:"pg-panes"},...this.panes.map(e=>e.node)),x("div",{class:"pg-row"},this.
playButton,D("Again","the same run from its start",()=>{this.again(),this.play(!0)}),D("New seed","other points, other start, other noise; e\
arlier seeds stay as shadows",()=>{for(let e of this.panes)e.keep();this.seed+=1,this.again(),this.play(!0)}),gt("data",Object.entries(os),this.
kind,a(e=>{this.kind=e})),gt("network",Object.entries(ns).map(([e,[i]])=>[e,i]),this.net,a(e=>{this.net=e}))),this.verdict,this.traces.node,
x("div",{class:"pg-sliders"},s("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,2.8,4],e=>e?`√(2 KL) = ${e}`:"0: the same as VI"),s("rho",
"radius of SAM",[0,.05,.1,.2,.5,1],e=>`${e}, a distance`),s("kappa","temperature",[.01,.03,.1,.3,1],e=>e===1?"1: Bayes":`${e}: colder than B\
ayes`,"the weight of KL(q ‖ prior)"),s("rate","learning rate",[.005,.01,.02,.05,.1]),s("shots","points a class or side",[4,8,12,20,40,80]),
s("noise","noise of the points",[0,.1,.15,.2,.3,.5]),new Z("ensemble",[1,2,5,10,20,30],10,e=>{this.draws=e;for(let i of this.panes)i.refresh(
1/0);this.draw()},{say:e=>`${e} draw${e>1?"s":""}`}).node))}forget(){for(let t of this.panes)t.shadows=[]}again(){let{kind:t,settings:s,seed:a}=this,
e=2*s.shots,i=new Q(a);this.steps=0,this.train=rs(t,e,s.noise,i),this.test=rs(t,Bs,s.noise,i),this.sliders.rho.hidden=this.panes.every(o=>o.
method!=="sam"),this.sliders.noise.hidden=t==="gap",this.high=t==="gap"?40:Ds,this.grid=t==="gap"?Float64Array.from({length:121},(o,n)=>-3+n/
20):Float64Array.from({length:2*N*N},(o,n)=>{let h=n>>1;return n%2?2*(1-2*Math.floor(h/N)/(N-1)):2.4*(2*(h%N)/(N-1)-1)});for(let o of this.panes)
o.begin(),o.curve(),o.fill(P);this.draw()}play(t){if(t&&this.steps>=Gt&&this.again(),this.clock.play(t),this.playButton.textContent=t?"Pause":
"Play",!t){for(let s of this.panes)s.refresh(1/0),s.curve(),s.fill(P),s.score();this.draw()}}advance(){this.steps+=1;for(let t of this.panes)
(t.method!=="hmc"||this.steps%2)&&t.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,(this.due??0)+t*80);this.due>=1;this.due--)
this.advance();this.frames+=1,this.jobs?.length||(this.jobs=this.round()),this.jobs.shift()(),performance.now()-s<zs&&this.jobs.shift()?.(),
this.tell(),this.steps>=Gt&&this.play(!1)}round(){this.rounds=(this.rounds??0)+1;let t=this.rounds%4===0,s=this.panes.filter(e=>!e.lost),a=e=>[
()=>e.refresh(2),()=>e.plane.draw(),...this.planes?[()=>e.fill(2)]:[],...t?[()=>e.score(),()=>e.loss.draw()]:[],...this.rounds%12===2?[()=>e.
curve()]:[]];return[...s.flatMap(a),...t||!s.length?[()=>this.traces.draw()]:[]]}recolor(){this.draw()}draw(){for(let t of this.panes)t.draw();
this.traces.draw(),this.tell(!0)}tell(t=this.frames%30===0){if(!t)return;let s=this.panes.map(a=>`${j(a.method)[0]}: `+(a.lost?"diverged":`t\
est loss ${I(a.test.at(-1))}, ${this.kind==="gap"?`its draws differ by ${I(a.unsure.gap)} in the gap and ${I(a.unsure.points)} at the points`:
`ECE ${I(a.ece.at(-1))}, ${Math.round(100*a.right)} % right, λ₁ ${I(a.axes[0].value)}`}`));this.verdict.textContent=`Step ${this.steps}. ${s.
join(" · ")}`,this.panes.forEach((a,e)=>{a.plane.say(`What the ensemble of ${j(a.method)[0]} predicts for ${os[this.kind]}. ${s[e]}.`),a.loss.
say(`Training loss of ${j(a.method)[0]} on the plane of its two sharpest directions, the draws projected onto it.`)}),this.traces.say(`Again\
st steps: ${s.join("; ")}.`)}drawTraces(t,s,a){let e=[["test loss","test"],["calibration error, ECE","ece"],["λ₁ of the training loss at the\
 mean","lambda"]].filter(([,h])=>h!=="ece"||this.kind!=="gap"),i=s<620,o=i?s:s/e.length-14,n=i?a/e.length:a;e.forEach(([h,l],d)=>{let g=this.
panes.flatMap(m=>[...m.shadows.map(c=>({color:L(m.method),x:c.x,y:c[l],faint:!0})),{color:L(m.method),x:m.x,y:m[l]}]);Lt(t,i?0:d*(o+14),i?d*
n:0,o,n-4,h,g.filter(m=>m.y.some(Number.isFinite)),{log:l==="lambda",most:Gt})})}};var hs=`.pg { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #7b8794; --accent: #00805d;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  text-align: left; container-type: inline-size; }
.pg[data-theme=dark] { --ink: #e4e7eb; --soft: #b1bac4; --paper: #15191e; --panel: #20262d; --line: #3a434d; --track: #8b97a4; --accent: #2f\
bf94; color-scheme: dark; }
.pg *, .pg *::before { box-sizing: border-box; } .pg [hidden] { display: none !important; }
.pg h2 { margin: 40px 0 6px; font-size: clamp(20px, 2.4vw, 26px); line-height: 1.25; color: inherit; } .pg h2:first-of-type { margin-top: 8p\
x; } .pg p { margin: 6px 0; max-width: 74ch; }
.pg :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
.pg button, .pg select, .pg input { font: inherit; color: inherit; }
.pg button, .pg select { min-height: 44px; min-width: 44px; padding: 6px 14px; background: var(--paper); border: 1px solid var(--track); bor\
der-radius: 8px; cursor: pointer; }
.pg button[aria-pressed=true] { background: var(--panel); box-shadow: inset 0 0 0 1.5px var(--ink); }
.pg .pg-play { background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 700; min-width: 92px; }
.pg .pg-row, .pg .pg-chips, .pg .pg-tools { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
.pg .pg-chips button { display: inline-flex; align-items: center; gap: 8px; color: var(--soft); border-color: var(--line); }
.pg .pg-chips i { width: 14px; height: 14px; border-radius: 50%; border: 2.5px solid var(--method); }
.pg .pg-chips button[aria-pressed=true] { color: var(--ink); font-weight: 600; box-shadow: inset 0 0 0 2px var(--method); background: var(--\
paper); border-color: transparent; }
.pg .pg-chips button[aria-pressed=true] i { background: var(--method); }
.pg .pg-board { position: relative; min-width: 0; } .pg canvas { display: block; width: 100%; border-radius: 8px; }
.pg .pg-grip { border-radius: 8px; } .pg .pg-grip canvas { cursor: grab; touch-action: pan-y; } .pg .pg-grip canvas:active { cursor: grabbin\
g; }
.pg .pg-world, .pg .pg-net { display: grid; gap: 14px 26px; grid-template-columns: minmax(0, 1fr); }
.pg .pg-stage, .pg .pg-side { min-width: 0; } .pg .pg-side { display: grid; gap: 12px; align-content: start; }
.pg .pg-verdict { min-height: 3em; font-variant-numeric: tabular-nums; } .pg .pg-about { color: var(--soft); }
.pg .pg-sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 2px 20px; }
.pg .pg-slider { display: grid; grid-template-columns: auto 1fr; align-items: baseline; gap: 0 10px; font-size: 15px; margin: 0; }
.pg .pg-slider span { font-weight: 600; } .pg .pg-slider output { color: var(--soft); text-align: right; font-variant-numeric: tabular-nums;\
 }
.pg .pg-slider input { grid-column: 1 / -1; width: 100%; height: 44px; margin: -6px 0 -4px; accent-color: var(--accent); cursor: pointer; to\
uch-action: pan-y; }
.pg .pg-menu { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; margin: 0; } .pg .pg-menu span { font-weight: 600; } .pg \
.pg-menu select { max-width: 100%; min-width: 0; } .pg .pg-menu { max-width: 100%; min-width: 0; }
.pg .pg-under { display: flex; flex-wrap: wrap; gap: 6px 24px; align-items: center; } .pg .pg-under .pg-tools { margin: 0; } .pg .pg-under .\
pg-about { flex: 1 1 320px; }
@container (max-width: 859px) {
  .pg .pg-world .pg-stage, .pg .pg-world .pg-side { display: contents; }
  .pg .pg-world > .pg-under { order: 3; } .pg .pg-side > * { order: 1; } .pg .pg-stage > .pg-grip, .pg .pg-stage > .pg-row { order: -2; }
  .pg .pg-world .pg-sliders { display: contents; } .pg .pg-world .pg-slider { order: 1; } .pg .pg-world .pg-slider:first-child { order: -1; \
}
  .pg .pg-world, .pg .pg-net { gap: 4px; } .pg .pg-row, .pg .pg-chips { gap: 6px; } .pg button, .pg select { padding: 6px 10px; } .pg .pg-ve\
rdict { min-height: 6em; }
}
@container (min-width: 860px) {
  .pg .pg-world, .pg .pg-net { grid-template-columns: minmax(0, 1.75fr) minmax(300px, 1fr); }
  .pg .pg-under { grid-column: 1 / -1; }
}
.pg .pg-step .pg-board { line-height: 0; } .pg .pg-step svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.pg .pg-step svg text { font: 700 16px/1 system-ui, sans-serif; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-opacity\
: .8; }
.pg .pg-step .pg-row .pg-slider { flex: 1 1 160px; } .pg .pg-step .pg-below { display: grid; gap: 14px 30px; }
.pg .pg-formula { font: 19px/1.9 "STIX Two Math", "Cambria Math", Georgia, serif; } .pg .pg-formula small { display: block; font: 14px/1.4 s\
ystem-ui, sans-serif; color: var(--soft); }
.pg .pg-formula [data-s] { cursor: pointer; border-bottom: 2px solid currentColor; color: var(--mark); padding: 2px 1px; }
.pg .pg-step { --s-q: #1f2933; --s-g: #0072b2; --s-worst: #b34e00; --s-there: #00805d; --s-diff: #9b3d8a; --s-move: #00805d; }
.pg[data-theme=dark] .pg-step { --s-q: #e4e7eb; --s-g: #5ab0e0; --s-worst: #ff9e5c; --s-there: #2fbf94; --s-diff: #e6a3da; --s-move: #2fbf94\
; }
.pg [data-s=q] { --mark: var(--s-q); } .pg [data-s=g] { --mark: var(--s-g); } .pg [data-s=worst], .pg [data-s=ball] { --mark: var(--s-worst)\
; }
.pg [data-s=there] { --mark: var(--s-there); } .pg [data-s=diff] { --mark: var(--s-diff); } .pg [data-s=move] { --mark: var(--s-move); }
.pg .pg-formula .pg-lit { background: var(--panel); box-shadow: 0 0 0 2px var(--mark); border-radius: 4px; }
.pg svg g { transition: opacity .15s; } .pg .pg-some svg g { opacity: .25; } .pg .pg-some svg g.pg-lit { opacity: 1; } .pg svg g.pg-lit :is(\
line, ellipse) { stroke-width: 4.5px; }
.pg .pg-bar { display: flex; height: 30px; max-width: 520px; border-radius: 6px; overflow: hidden; font-size: 14px; line-height: 30px; text-\
align: center; }
.pg .pg-bar i { background: var(--s-worst); color: var(--paper); font-style: normal; font-weight: 600; } .pg .pg-bar b { background: var(--p\
anel); box-shadow: inset 0 0 0 2px var(--s-worst); color: var(--ink); font-weight: 600; }
.pg .pg-budget p { font-size: 15px; }
@container (min-width: 860px) { .pg .pg-step .pg-below { grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr); } }
@media (prefers-reduced-motion: reduce) { .pg svg g { transition: none; } }
.pg .pg-panes { display: grid; gap: 16px 26px; grid-template-columns: minmax(0, 1fr); } .pg .pg-pane { display: grid; gap: 8px; min-width: 0\
; }
.pg .pg-network .pg-row { align-items: center; } .pg .pg-network .pg-sliders { margin-top: 12px; }
@container (min-width: 620px) { .pg .pg-panes { grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); } }
`;var ls="http://www.w3.org/2000/svg",xt=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step\
."],["g","g: which way the loss that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as\
 the mean could go, were the whole radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two\
 widths."],["worst","Ascend by Δ to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the wid\
ths took, the mean did not get."],["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells\
 SA-BMA from VI. It points where the slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend ag\
ainst g′ and the pull of the prior. The arrow is drawn at its true length; the thin blue one is the step of VI."]],Pt=class{world;constructor(t){
Object.assign(this,{world:t,phase:0}),this.ground=new R((s,a,e)=>this.drawGround(s,a,e),{ratio:.52,label:"",least:260,most:620}),this.svg=document.
createElementNS(ls,"svg"),this.svg.setAttribute("aria-hidden","true"),this.ground.node.append(this.svg),this.profile=new R((s,a,e)=>this.drawProfile(
s,a,e),{ratio:.5,label:"",least:180,most:260}),this.sentence=x("p",{class:"pg-formula",role:"group","aria-label":"objective and step; point \
at a symbol to see its mark"}),this.text=x("p",{class:"pg-verdict",role:"status"}),this.slider=new Z("phase",xt.map((s,a)=>a),0,s=>this.go(s),
{say:s=>`${s+1} of ${xt.length}`}),this.budget=x("div",{class:"pg-budget",role:"img"}),this.node=x("section",{class:"pg-step","aria-label":"\
one step of SA-BMA"},this.ground.node,x("div",{class:"pg-row"},D("Next","the next phase",()=>this.next(),{class:"pg-play"}),D("Back","the ph\
ase before",()=>this.go(Math.max(0,this.phase-1))),this.slider.node),this.text,x("div",{class:"pg-below"},x("div",{},this.sentence,this.budget),
this.profile.node)),this.write(),t.still.push(()=>this.take()),this.node.addEventListener("pointerover",s=>this.light(s.target.closest?.("[d\
ata-s]")?.dataset.s)),this.node.addEventListener("pointerleave",()=>this.light()),this.node.addEventListener("focusin",s=>this.light(s.target.
dataset?.s)),this.node.addEventListener("click",s=>{let a=s.target.closest?.(".pg-formula [data-s]")?.dataset.s;a&&(this.reveal(a),this.light(
a))}),this.take()}take(t){let{world:s}=this,a=s.runs.get("sabma")?.learner??s.learner("sabma",s.seed),e=t??dt(a.q),i=$t(2);this.prior=a.prior,
this.settings={...a.settings,radius:s.settings.radius,T:s.settings.T,rate:s.settings.rate},this.loss=s.loss,this.noise=s.noise.slice(0,4),this.
record=Dt(this.loss,e,i,this.prior,this.noise,this.settings),this.after=e,this.plain=dt(this.record.from),Et(this.loss,this.plain,$t(2),this.
prior,this.noise,this.settings);let{g:o,delta:n}=this.record;this.slope=n?W(o.mean,n.mean)+W(o.logStd,n.logStd):0,this.promised=o.value+this.
slope,this.relief=null,this.go(t?0:this.phase)}next(){this.phase<xt.length-1?this.go(this.phase+1):this.take(this.after)}go(t){this.phase=this.
slider.value=t,this.text.textContent=`${t+1}. ${xt[t][1]}`,this.recolor()}recolor(){this.ground.draw(),this.profile.draw(),this.tellBudget();
let t=this.record;this.profile.say(`The loss along the ascent from q${t.there?`: ${I(t.g.value)} at q, ${I(t.worst.value)} at q′, ${I(this.
promised)} by the straight line of slope g`:"; there is none at radius 0"}.`),this.ground.say(`One step of SA-BMA on the ground. ${this.text.
textContent} Loss that q expects ${I(t.g.value)}`+(t.there?`, that q′ expects ${I(t.worst.value)}.`:"; the radius is 0, so that there is n\
o q′."))}write(){let t=(s,a)=>x("span",{"data-s":s,tabindex:0,role:"button"},a);this.sentence.append("min over ",t("q","q")," of max over ",
t("worst","q′")," in ",t("ball","KL(q′ ‖ q) ≤ radius²/2")," of E",x("sub",{},"q′"),"[L] + T ",t("move","KL(q ‖ prior)"),x("br"),
t("worst","Δ")," = ",t("ball","radius")," · F⁻¹",t("g","g")," / √(",t("g","g"),"ᵀF⁻¹",t("g","g"),")",x("br"),t("worst","q′"),"\
 = ",t("q","q")," + ",t("worst","Δ"),",  ",t("there","g′")," = ",t("g","g")," + ",t("diff","(g′ − g)"),x("br"),t("q","q")," ← ",t("\
q","q")," − ",t("move","rate · F⁻¹(g′ + T ∇KL)"),x("small",{},"F: the Fisher matrix of q itself. For a mean it is 1/width², for th\
e logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients."))}reveal(t){let s=xt.findIndex(
([a])=>a===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);for(let s of this.node.querySelectorAll("[data-s]"))
s.classList.toggle("pg-lit",s.dataset.s===t)}tellBudget(){let{share:t,there:s}=this.record,{radius:a}=this.settings,e=o=>`${Math.round(100*o)}\
 %`;if(this.budget.hidden=this.phase<3||!s,this.budget.hidden)return;let i=`${e(t)} of radius² went into the means, ${e(1-t)} into the widt\
hs: the mean of q′ lies at √${t.toFixed(2)} = ${e(Math.sqrt(t))} of the way to the edge.`;this.budget.setAttribute("aria-label",i),this.
budget.replaceChildren(x("div",{class:"pg-bar"},x("i",{style:`width:${100*t}%`},t>.25?"means":""),x("b",{style:`width:${100*(1-t)}%`},t<.75?
"widths":"")),x("p",{},`Radius ${a}. `,i))}view(t,s){let{from:a,there:e}=this.record,i=a.logStd.map(Math.exp),o=Math.max(2.1,this.settings.radius+
.3),n=[0,1].map(l=>Math.max(o*i[l],e?Math.abs(e.mean[l]-a.mean[l])+2.1*Math.exp(e.logStd[l]):0)*1.12),h=Math.min(t/2/n[0],s/2/n[1]);return{unit:h,
X:l=>t/2+(l-a.mean[0])*h,Y:l=>s/2-(l-a.mean[1])*h,center:a.mean}}drawGround(t,s,a){if(!this.record)return;let{unit:e,center:i}=this.view(s,a),
o=O(),n=121,h=Math.round(120*a/s)+1,l=[s,a,e,B()].join();if(this.relief?.key!==l){let p=new Float64Array(2),f=new Float64Array(n*h);for(let y=0;y<
h;y++)for(let v=0;v<n;v++)p[0]=i[0]+(v/(n-1)-.5)*s/e,p[1]=i[1]-(y/(h-1)-.5)*a/e,f[y*n+v]=this.loss.both(p,null);let u=Math.min(...f),b=Math.
max(1e-9,Math.max(...f)-u);this.relief={key:l,columns:n,rows:h,share:f.map(y=>(y-u)/b)}}let{share:d}=this.relief,g=x("canvas",{width:n,height:h}),
m=g.getContext("2d"),c=m.createImageData(n,h);d.forEach((p,f)=>{for(let u=0;u<3;u++)c.data[4*f+u]=o.low[u]+(o.high[u]-o.low[u])*p;c.data[4*f+
3]=255}),m.putImageData(c,0,0),t.drawImage(g,0,0,s,a),t.strokeStyle=B()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let p=1;p<
14;p++){t.beginPath();for(let[f,u,b,y]of at(d,h,n,p/14))t.moveTo(f/(n-1)*s,u/(h-1)*a),t.lineTo(b/(n-1)*s,y/(h-1)*a);t.stroke()}this.drawMarks(
s,a)}drawMarks(t,s){let{X:a,Y:e,unit:i}=this.view(t,s),{from:o,g:n,there:h,worst:l}=this.record,{radius:d}=this.settings,g=L("sabma"),m=L("v\
i"),c=L("sam"),p=O().truth,f=O().ink;this.svg.setAttribute("viewBox",`0 0 ${t} ${s}`),this.svg.replaceChildren();let u=(M,$,E=this.svg)=>{let A=document.
createElementNS(ls,M);for(let[F,ot]of Object.entries($))A.setAttribute(F,ot);return E.append(A),A},b=M=>u("g",{"data-s":M}),y=(M,$,E,A,F)=>u(
"ellipse",{cx:a($[0]),cy:e($[1]),rx:E*i,ry:A*i,fill:"none",...F},M),v=[],w=[],k=(...M)=>v.push(M),G=(M,$,E,A,F,ot,ut,Ft={})=>{let st=Math.hypot(
A,F),S=Math.min(11,.6*st),[z,Y]=st?[A/st,F/st]:[0,0];for(let et=0;et<=12;et++)w.push([$+A*et/12,E+F*et/12]);u("line",{x1:$,y1:E,x2:$+A-z*S*.7,
y2:E+F-Y*S*.7,stroke:ot,"stroke-width":3.2,...Ft},M),u("path",{d:`M${$+A},${E+F} L${$+A-z*S-Y*S*.55},${E+F-Y*S+z*S*.55} L${$+A-z*S+Y*S*.55},${E+
F-Y*S-z*S*.55} Z`,fill:ot},M),ut&&k(M,$+A+9*z+(z<0?-14:2),E+F+14*Y+5,ut,ot)},H=o.logStd.map(Math.exp),[V,U]=[a(o.mean[0]),e(o.mean[1])],ht=M=>this.
phase>=M,ms=Math.max(rt(n.mean),l?rt(l.mean):0,1e-9),K=.3*Math.min(t,s)/ms;if(ht(2)){let M=b("ball");y(M,o.mean,d*H[0],d*H[1],{stroke:c,"str\
oke-width":2,"stroke-dasharray":"3 6"}),k(M,V+d*H[0]*i*.72+6,U+d*H[1]*i*.72+12,"ball",c)}let yt=b("q");y(yt,o.mean,2*H[0],2*H[1],{stroke:f,"\
stroke-width":2.4,fill:f,"fill-opacity":.07});for(let M of this.noise)u("circle",{cx:a(o.mean[0]+H[0]*M[0]),cy:e(o.mean[1]+H[1]*M[1]),r:3.4,
fill:f},yt);if(u("circle",{cx:V,cy:U,r:6,fill:f,stroke:O().paper,"stroke-width":1.5},yt),k(yt,V-2*H[0]*i*.72-20,U-2*H[1]*i*.72-6,"q",f),ht(3)&&
h){let M=b("worst"),$=h.logStd.map(Math.exp),[E,A]=[a(h.mean[0]),e(h.mean[1])];if(y(M,h.mean,2*$[0],2*$[1],{stroke:c,"stroke-width":2.4,fill:c,
"fill-opacity":.08}),G(M,V,U,E-V,A-U,c,"Δ"),u("circle",{cx:E,cy:A,r:5,fill:c,stroke:O().paper,"stroke-width":1.5},M),k(M,E-2*$[0]*i*.72-26,
A+2*$[1]*i*.72+16,"q′",c),ht(5)){let F=b("diff");G(F,E,A,n.mean[0]*K,-n.mean[1]*K,m,"",{"stroke-dasharray":"4 5"}),G(F,E+n.mean[0]*K,A-n.mean[1]*
K,(l.mean[0]-n.mean[0])*K,-(l.mean[1]-n.mean[1])*K,p),k(F,E+(n.mean[0]+l.mean[0])/2*K-20,A-(n.mean[1]+l.mean[1])/2*K-12,"g′ − g",p)}ht(4)&&
G(b("there"),E,A,l.mean[0]*K,-l.mean[1]*K,g,"g′")}if(ht(1)&&G(b("g"),V,U,n.mean[0]*K,-n.mean[1]*K,m,"g"),ht(6)){let M=b("move"),$=this.after.
logStd.map(Math.exp);y(M,this.after.mean,2*$[0],2*$[1],{stroke:g,"stroke-width":2.4,"stroke-dasharray":"7 4"}),G(M,V,U,a(this.plain.mean[0])-
V,e(this.plain.mean[1])-U,m,"",{"stroke-width":2}),G(M,V,U,a(this.after.mean[0])-V,e(this.after.mean[1])-U,g,"step")}let Ut=[];for(let[M,$,E,
A,F]of v){let ot=10*A.length,ut=([S,z])=>[$+S,E+z-14,$+S+ot,E+z+4],Ft=S=>{let[z,Y,et,Nt]=ut(S);return z>4&&et<t-4&&Y>4&&Nt<s-4&&!w.some(([vt,
kt])=>vt>z-4&&vt<et+4&&kt>Y-4&&kt<Nt+4)&&!Ut.some(([vt,kt,us,ws])=>z<us&&et>vt&&Y<ws&&Nt>kt)},st=[0,14,26,40,56].flatMap(S=>[[0,-S],[0,S],[S,
0],[-S,0],[S,-S],[-S,-S],[S,S],[-S,S]]).find(Ft)??[0,0];Ut.push(ut(st)),u("text",{x:$+st[0],y:E+st[1],fill:F},M).textContent=A}}drawProfile(t,s,a){
if(!this.record)return;let e=O(),{from:i,delta:o,g:n,worst:h}=this.record,l=L("sam");if(T(t,"loss along the ascent from q (0) to q′ (1)",2,
10,{color:e.soft,size:12.5,halo:!1}),!o){T(t,"radius 0: no ascent",s/2,a/2,{align:"center",halo:!1});return}let d=Array.from({length:41},(y,v)=>v/
40*1.4),g=d.map(y=>J(this.loss,{mean:C(i.mean,o.mean,y),logStd:C(i.logStd,o.logStd,y)},this.noise).value),m=d.map(y=>n.value+y*this.slope),c=Math.
min(...g,...m),p=Math.max(...g,...m),f=y=>8+(s-70)*y/1.4,u=y=>a-22-(a-52)*(y-c)/Math.max(p-c,1e-9),b=(y,v,w)=>{t.beginPath(),y.forEach((k,G)=>t.
lineTo(f(d[G]),u(k))),t.strokeStyle=v,t.lineWidth=2.2,t.setLineDash(w),t.stroke(),t.setLineDash([])};b(m,L("vi"),[4,5]),b(g,e.ink,[]),T(t,"s\
lope g",f(1.4)+6,u(m.at(-1)),{color:L("vi"),size:12.5}),T(t,"loss",f(1.4)+6,Math.abs(u(g.at(-1))-u(m.at(-1)))<14?u(m.at(-1))+(u(g.at(-1))<u(
m.at(-1))?-15:15):u(g.at(-1)),{size:12.5}),ft(t,"circle",f(0),u(n.value),5,e.ink),T(t,I(n.value),f(0)+4,u(n.value)+14,{size:12.5}),!(this.phase<
3)&&(ft(t,"circle",f(1),u(h.value),5,l),T(t,I(h.value),f(1)+4,u(h.value)+14,{size:12.5,color:l}))}};var _=[-3,3],it=[-2,2],tt=600,Rs=60,ds=6,cs=3,mt=.4,_s={gd:"",sam:"SAM: sharpness-aware minimisation",vi:"VI: variational inference",sabma:"\
SA-BMA: sharpness-aware Bayesian model averaging",sgld:"SGLD: stochastic gradient Langevin dynamics",hmc:"HMC: Hamiltonian Monte Carlo"},ps=[
-1.2816,-.5244,0,.5244,1.2816],Vt=ps.flatMap(r=>ps.map(t=>Float64Array.of(r,t))),gs={hollow:{label:"a narrow hollow before a wide meadow",start:[
-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,terms:[{kind:"dent",at:[-.7,0],depth:1,width:.28},{kind:"dent",at:[1.4,.1],depth:1,width:1.1},
{kind:"bowl",at:[1,0],h:.06}],places:[["narrow hollow",[-.7,0],.5],["wide meadow",[1.4,.1],1.4]],about:"Both start at the same place with th\
e same noise. VI lowers the loss that it expects under q, its Gaussian over the weights; SA-BMA looks for the worst q′ within the radius fir\
st, and lowers the loss there. This ground was chosen because the difference is plainest here: the hollow lies on the way to the meadow. Hol\
low and meadow are equally deep."},ravine:{label:"a bent ravine",start:[-1.9,1.3],std:.25,T:.05,radius:1,rho:.3,rate:.05,top:3,terms:[{kind:"\
valley",k:5,a:.45,b:-1},{kind:"bowl",at:[1.6,.2],h:.3}],places:[["end of the ravine",[1.6,.1],.7]],about:"Every method ends at the same plac\
e. The radius matters on the way: across the ravine the ball is cut short by steep walls, and q stays narrow there."},ridge:{label:"a ridge \
between two valleys",start:[-.05,1.1],std:.25,T:.05,radius:1,rho:.3,rate:.05,top:1.6,terms:[{kind:"dent",at:[0,0],depth:-1,width:[.35,2.5]},
{kind:"bowl",at:[0,0],h:.16}],places:[["left valley",[-.8,0],.8],["right valley",[.8,0],.8]],about:"Both valleys are alike, and q starts on \
the ridge: noise decides. Run 20 seeds and count."},plateau:{label:"a plateau with one hollow",start:[-1.3,.5],std:.35,T:.05,radius:1,rho:.5,
rate:.2,top:.5,terms:[{kind:"dent",at:[1.1,0],depth:1,width:.55},{kind:"bowl",at:[0,0],h:.03}],places:[["hollow",[1.1,0],.6],["plateau",[-1,
0],1.3]],about:"Where the loss is nearly flat its gradient is nearly zero, and the prior has the say: q widens until a draw meets the hollow\
."},modes:{label:"two modes: a counter-example",start:[-.5,0],std:.5,T:.1,radius:2,rho:.5,rate:.05,top:6,terms:[{kind:"modes",a:[-1.6,0],b:[
1.6,0],narrow:.3,ratio:3}],places:[["narrow mode",[-1.6,0],.55],["ridge",[-.6,0],.45],["wide mode",[1.6,0],1.3]],about:"Flatter is not what \
a large radius always finds. Two modes of equal depth: VI and SA-BMA at radius 0.5 reach the wide one from here, at radius 2 most runs do no\
t. The ascent carries q′ over the ridge into the other basin, and the gradient there, the steeper one, holds q on the ridge. The arrows belo\
w the section show where each method moves the mean. Press 20 seeds."},yours:{label:"yours: push it into shape",start:[-1.5,.6],std:.3,T:.1,
radius:1,rho:.5,rate:.05,top:1.2,terms:[{kind:"bowl",at:[.6,0],h:.1}],places:[],about:"Press on the ground to push it down or up, then play."}},
Ot=class{seed;on;rhoSlider;still;constructor(t={}){Object.assign(this,{seed:1,draws:10,on:new Set(["vi","sabma"]),chosen:"sabma",truth:!1,tool:"\
start",shadows:[],still:[]}),this.built=t,this.map=new R((s,a,e)=>this.drawMap(s,a,e),{ratio:2/3,label:""}),this.section=new R((s,a,e)=>this.
drawSection(s,a,e),{ratio:.56,label:"",least:190,most:280}),this.traces=new R((s,a,e)=>this.drawTraces(s,a,e),{ratio:.8,label:"",least:290,most:350}),
this.build(),this.choose("hollow"),this.clock=new pt(this.map.node,s=>this.frame(s)),!nt.matches&&t.autoplay!==!1&&this.play(!0)}build(){let t=(e,...i)=>(this[`${e}\
Slider`]=new Z(...i),this[`${e}Slider`].node),s=e=>(i,o)=>{this.settings[e]=i,o?(this.again(),nt.matches||this.play(!0)):(this.rest(),this.draw())};
this.playButton=D("Play","play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.chips=x("div",{class:"pg-chips",role:"gr\
oup","aria-label":"methods"});for(let e of["gd","sam","vi","sabma","sgld","hmc"]){let i=D("",`show or hide ${j(e)[0]}`,()=>this.toggle(e),{"\
data-method":e});i.append(x("i",{"aria-hidden":"true"}),j(e)[0]),this.chips.append(i)}this.ground=gt("ground",Object.entries(gs).map(([e,i])=>[
e,i.label]),"hollow",e=>{this.choose(e),this.play(!nt.matches)}),this.tools=x("div",{class:"pg-tools",role:"group","aria-label":"what the po\
inter does"},...[["down","push down"],["up","push up"],["start","move q"]].map(([e,i])=>D(i,`the pointer: ${i}`,()=>{this.tool=e,this.tell()},
{"data-tool":e}))),this.verdict=x("p",{class:"pg-verdict",role:"status"}),this.about=x("p",{class:"pg-about"}),this.names=x("p",{class:"pg-a\
bout"}),this.truthButton=D("Truth","lay the posterior itself over the ground, computed on a grid",()=>{this.truth=!this.truth,this.tell(),this.
map.draw()});let a=x("div",{class:"pg-grip",tabindex:0,role:"group","aria-label":"the ground; arrow keys move the place where training start\
s"},this.map.node);a.addEventListener("keydown",e=>this.pressed(e)),this.pointer(this.map.canvas),this.node=x("section",{class:"pg-world","a\
ria-label":"two weights"},x("div",{class:"pg-stage"},a,x("div",{class:"pg-row"},this.playButton,D("Step","one step of every method",()=>{this.
play(!1),this.advance(1),this.shown()}),D("Again","the same run from its start",()=>{this.again(),this.play(!0)}),D("New seed","other noise;\
 the last runs stay as shadows",()=>{this.seed+=1,this.again(),this.play(!0)}),D("20 seeds","20 runs at once, and where they end",()=>this.many()),
this.truthButton),this.verdict,this.chips,this.names),x("div",{class:"pg-side"},x("div",{class:"pg-sliders"},t("radius","radius of SA-BMA",[
0,.25,.35,.5,.7,1,1.4,2,2.8,4],1,s("radius"),{say:e=>e?`${e} × the width of its cloud q`:"0: the same as VI",help:"how far from q SA-BMA lo\
oks for the worst posterior, √(2 KL)"}),t("rho","radius of SAM",[0,.05,.1,.2,.3,.5,.8,1.2],.5,s("rho"),{say:e=>`${e}, a distance`}),t("T",
"temperature",[.01,.02,.05,.1,.2,.5,1],.1,s("T"),{say:e=>`T = ${e}`,help:"the weight of KL(q ‖ prior), kl_weight / N"}),t("rate","learning\
 rate",[.01,.02,.05,.1,.2],.05,s("rate")),t("draws","ensemble",[1,2,5,10,20,30],10,e=>{this.draws=e,this.shown()},{say:e=>`${e} draw${e>1?"s":
""}`})),this.section.node,this.traces.node),x("div",{class:"pg-under"},this.ground,this.tools,this.about))}choose(t){this.name=t;let s=this.
world=gs[t];this.terms=s.terms.map(a=>({...a})),this.settings={radius:s.radius,rho:s.rho,T:s.T,rate:s.rate};for(let a of["radius","rho","T",
"rate"])this[`${a}Slider`].value=s[a];this.start=[...s.start],this.tool=t==="yours"?"down":"start",this.shadows=[],this.reground(),this.again(
!1)}reground(){this.loss=Jt(this.terms),this.relief=this.density=null}toggle(t){this.on.has(t)&&this.on.size>1?this.on.delete(t):(this.on.add(
t),this.chosen=t),this.again(!1),nt.matches||this.play(!0)}tell(){for(let s of this.chips.children){let{method:a}=s.dataset;s.setAttribute("\
aria-pressed",this.on.has(a)),s.style.setProperty("--method",L(a))}for(let s of this.tools.children)s.setAttribute("aria-pressed",s.dataset.
tool===this.tool);this.tools.hidden=this.name!=="yours",this.rhoSlider.node.hidden=!this.on.has("sam"),this.truthButton.setAttribute("aria-p\
ressed",this.truth),this.about.textContent=this.world.about;let t=[...this.on].some(s=>X[s])?"q: a method's cloud of weights, the dots are d\
raws from it":"";this.names.textContent=[...[...this.on].map(s=>_s[s]),t].filter(Boolean).join(". ")+"."}play(t){t&&this.steps>=tt&&this.again(),
this.clock.play(t),this.tell(),this.playButton.textContent=t?"Pause":"Play",t||this.halted()}halted(){for(let t of this.still)t(this)}prior(){
let t=Math.log(cs);return{mean:Float64Array.of(0,0),logStd:Float64Array.of(t,t)}}from(){let t=Math.log(this.world.std);return{mean:Float64Array.
from(this.start),logStd:Float64Array.of(t,t)}}learner(t,s){let{radius:a,rho:e,T:i,rate:o}=this.settings,n={T:i,rate:o,momentum:0,draws:4,radius:t===
"sam"?e:a};return new lt(t,this.loss,this.prior(),this.from(),n,s)}rest(t=!0){if(t&&this.steps>60)for(let[a,e]of this.runs)this.shadow(a,e.trail);
this.steps=0,this.density=null,this.runs=new Map([...this.on].map(a=>[a,{learner:this.learner(a,this.seed),trail:[[...this.start]],x:[],expected:[],
worst:[],lambda:[],kl:[],lost:!1}]));let s=new Q(99);this.noise=Array.from({length:30},()=>s.normals(2)),this.drifts=null,this.tally="",this.
measure()}again(t=!0){this.rest(t),this.shown(),this.halted()}shadow(t,s){this.shadows.push([t,s]),this.shadows.length>80&&this.shadows.shift()}advance(t){
for(let s=0;s<t&&this.steps<tt;s++){this.steps+=1;for(let[a,e]of this.runs)e.lost||a==="hmc"&&this.steps%ds||(e.learner.step(),e.lost=!e.learner.
finite,e.lost||e.trail.push([...e.learner.q.mean]));this.steps%4===0&&this.measure()}this.steps%24<t&&(this.drifts=null)}measure(){for(let[t,
s]of this.runs)if(!s.lost){let a=this.measured(t,s.learner);s.x.push(this.steps);for(let e of["expected","worst","lambda","kl"])s[e].push(a[e])}}measured(t,{
q:s,prior:a,settings:e,kept:i}){let{loss:o}=this,[{value:n}]=ct(o,s.mean,1);if(X[t]){let h=Tt(s,J(o,s,Vt),this.settings.radius).there;return{
expected:It(o,s),worst:It(o,h),lambda:n,kl:At(s,a).value}}if(qt[t]){let h=i.length?i.slice(-this.draws):[s.mean];return{expected:h.reduce((l,d)=>l+
o.both(d,null),0)/h.length,worst:NaN,lambda:n,kl:NaN}}return{expected:o.both(s.mean,null),worst:Wt(o,s.mean,this.settings.rho),lambda:n,kl:NaN}}frame(t){
this.due=(this.due??0)+t*Rs;let s=Math.min(6,Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&(this.advance(s),this.shown()),this.steps>=
tt&&this.play(!1)}whereIs(t){let s=this.placeOf(t),a=Float64Array.from(t),e=new Float64Array(2);if(s?.endsWith("ridge"))return`on the ${s}`;
for(let o=0;o<80;o++)this.loss.both(a,e.fill(0)),a[0]-=.05*e[0],a[1]-=.05*e[1];let i=this.placeOf(a);return i?`in the ${i===s?"":"basin of t\
he "}${i}`:""}placeOf([t,s]){return this.world.places.find(([,[a,e],i])=>Math.hypot(t-a,s-e)<i)?.[0]}many(){this.play(!1),this.shadows=[];let t=new Map;
for(let s of this.on)for(let a=1;a<=20;a++){let e=this.learner(s,a),i=[];for(let h=0;h<(s==="hmc"?tt/ds:tt)&&e.finite;h++)e.step(),h%6===0&&
i.push([...e.q.mean]);i.push([...e.q.mean]);let o=e.finite?this.placeOf(e.q.mean)??"elsewhere":"diverged",n=t.get(s)??t.set(s,new Map).get(s);
n.set(o,(n.get(o)??0)+1),this.shadow(s,i)}this.tally="20 seeds end here. "+[...t].map(([s,a])=>`${j(s)[0]}: ${[...a].sort((e,i)=>i[1]-e[1]).
map(([e,i])=>`${i} ${e}`).join(", ")}`).join("; ")+".",this.shown()}place(t){let s=this.map.canvas.getBoundingClientRect();return[_[0]+(t.clientX-
s.left)/s.width*(_[1]-_[0]),it[1]-(t.clientY-s.top)/s.height*(it[1]-it[0])]}near(t){let[s,a]=this.place(t),e=this.map.width/(_[1]-_[0]);return[
this.start,...[...this.runs.values()].map(i=>i.learner.q.mean)].some(([i,o])=>Math.hypot(s-i,a-o)*e<44)}pointer(t){let s=!1,a=i=>{let o=this.
place(i);this.tool==="start"?(this.start=o.map((n,h)=>Math.max([_,it][h][0]+.1,Math.min([_,it][h][1]-.1,n))),this.rest(!1)):this.push(o),this.
shown()};t.addEventListener("touchstart",i=>{(this.tool!=="start"||this.near(i.touches[0]))&&i.preventDefault()},{passive:!1}),t.addEventListener(
"pointerdown",i=>{i.pointerType==="touch"&&this.tool==="start"&&!this.near(i)||(s=!0,t.setPointerCapture(i.pointerId),this.play(!1),a(i))}),
t.addEventListener("pointermove",i=>{s&&a(i)});let e=()=>{s&&(s=!1,this.again(!1))};t.addEventListener("pointerup",e),t.addEventListener("po\
intercancel",e)}push([t,s]){let a=this.tool==="down"?1:-1,e=this.terms.find(i=>i.kind==="dent"&&i.width===.32&&Math.hypot(i.at[0]-t,i.at[1]-
s)<.16);e?e.depth=Math.max(-1.5,Math.min(1.5,e.depth+.06*a)):this.terms.push({kind:"dent",at:[t,s],depth:.1*a,width:.32}),this.reground(),this.
rest(!1)}pressed(t){let s={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]}[t.key];s&&(t.preventDefault(),this.play(!1),
this.tool==="start"&&(this.start=[this.start[0]+s[0],this.start[1]+s[1]]),this.again(!1))}recolor(){this.tell(),this.draw(!0)}draw(t=!this.clock?.
playing){this.drawn=(this.drawn??0)+1,this.map.draw(),(t||this.drawn%3===1)&&this.section.draw(),(t||this.drawn%6===0)&&this.traces.draw()}shown(){
this.clock?.playing||this.tell(),this.draw();let t=this.tally||this.sentence();(!this.clock?.playing||this.steps>=tt||this.steps%12===0)&&(this.
verdict.textContent=t,this.map.say(`${this.world.label}, seen from above. ${t}`),this.section.say(`Section of the ground through the mean of\
 ${j(this.chosen)[0]}, with the posteriors above it.`),this.traces.say(`Against steps: ${[...this.runs].map(([s,a])=>`${j(s)[0]}: expected l\
oss ${I(a.expected.at(-1))}, worst loss in the ball ${I(a.worst.at(-1))}, λ₁ ${I(a.lambda.at(-1))}, KL ${I(a.kl.at(-1))}`).join("; ")}.`))}sentence(){
if(!this.steps)return this.clock?.playing?"They start …":"Press Play.";let t=[...this.runs].filter(([,{lost:n}])=>!n).map(([n,{learner:{q:h}}])=>({
name:j(n)[0],where:this.whereIs(h.mean),cost:Wt(this.loss,h.mean,mt)-this.loss.both(h.mean,null)})),s=({name:n,where:h,cost:l})=>`${n} ${l.toFixed(
2)}${h&&`, ${h}`}`,a=({name:n,where:h,cost:l})=>`${n}${h&&` is ${h}`}: moving its mean by ${mt} costs up to ${l.toFixed(2)}.`,e=t.length>2?[
`Moving the mean by ${mt} costs at most: ${t.map(s).join("; ")}.`]:t.map(a),[i,o]=[...t].sort((n,h)=>n.cost-h.cost);o&&this.steps>=tt&&e.push(
i.cost<.9*o.cost?`${i.name} ended flattest.`:`${i.name} and ${o.name} ended about equally flat.`);for(let[n,{lost:h}]of this.runs)h&&e.push(
`${j(n)[0]} diverged: lower the learning rate or the radius.`);return e.join(" ")}heights(t,s){let a=new Float64Array(s*t);for(let e=0;e<s;e++)
for(let i=0;i<t;i++)a[e*t+i]=this.loss.both([_[0]+i/(t-1)*6,it[1]-e/(s-1)*4],null);return a}paintRelief(t,s){let i=this.heights(181,121),o=O(),
n=Math.min(...i),h=i.map(f=>{let u=(f-n)/this.world.top;return u<1?.75*u:1-.25/u}),l=x("canvas",{width:181,height:121}),d=l.getContext("2d"),
g=d.createImageData(181,121);for(let f=0;f<121;f++)for(let u=0;u<181;u++){let b=f*181+u,y=h[f*181+Math.min(180,u+1)]-h[f*181+Math.max(0,u-1)],
v=h[Math.min(120,f+1)*181+u]-h[Math.max(0,f-1)*181+u],w=Math.max(-.22,Math.min(.14,1.7*(-y-v)));for(let k=0;k<3;k++)g.data[4*b+k]=(o.low[k]+
(o.high[k]-o.low[k])*h[b])*(1+w);g.data[4*b+3]=255}d.putImageData(g,0,0);let m=this.map.dense,c=x("canvas",{width:t*m,height:s*m}),p=c.getContext(
"2d");p.imageSmoothingQuality="high",p.drawImage(l,0,0,t*m,s*m),p.scale(t*m/180,s*m/120),p.strokeStyle=B()?"rgba(255,255,255,.13)":"rgba(60,\
70,80,.2)";for(let f=1;f<=14;f++){p.lineWidth=180/t*(f%4?.8:1.4),p.beginPath();for(let[u,b,y,v]of at(h,121,181,f/15))p.moveTo(u,b),p.lineTo(
y,v);p.stroke()}this.relief={whole:c,width:t,height:s,dark:B(),low:n}}paintTruth(){let a=this.heights(181,121),e=Math.min(...a),i=cs**-2,o=a.
map((d,g)=>{let m=_[0]+g%181/180*6,c=it[1]-Math.floor(g/181)/120*4;return Math.exp(-(d-e)/this.settings.T-.5*i*(m*m+c*c))}),n=Array.from(o).
sort((d,g)=>g-d),h=n.reduce((d,g)=>d+g,0),l=[.5,.95].map(d=>{let g=0;return n.find(m=>(g+=m)>=d*h)});this.density={columns:181,rows:121,lines:l.
map(d=>at(o,121,181,d))}}drawMap(t,s,a){if(!this.runs)return;let e=O(),i=this.relief;(!i||i.width!==s||i.height!==a||i.dark!==B())&&this.paintRelief(
s,a),t.drawImage(this.relief.whole,0,0,s,a);let o=s/6,n=d=>(d-_[0])*o,h=d=>(it[1]-d)*o;this.truth&&this.drawTruth(t,s,a,e);for(let[d,g,m]of this.
world.places)T(t,d,n(g[0]),Math.min(a-12,h(g[1]-m)+4),{color:e.soft,size:13,align:"center"});this.shadows.forEach(([d,g])=>this.drawTrail(t,
g,L(d),n,h,.22));for(let d of this.runs.keys())this.drawRun(t,d,this.runs.get(d),n,h,o);let l=[...this.runs].map(([d,{learner:g}])=>({method:d,
x:n(g.q.mean[0]),y:h(g.q.mean[1])-16})).sort((d,g)=>d.y-g.y);l.length<=3&&l.forEach((d,g)=>{for(let m of l.slice(0,g))Math.abs(m.x-d.x)<60&&
d.y-m.y<17&&(d.y=m.y+17);T(t,j(d.method)[0],Math.max(8,Math.min(s-70,d.x+10)),Math.max(12,d.y),{color:L(d.method),weight:700,size:14})}),t.strokeStyle=
e.soft,t.lineWidth=2,t.beginPath(),t.moveTo(12,a-12),t.lineTo(12+mt*o,a-12),t.stroke(),T(t,`${mt}`,18+mt*o,a-12,{color:e.soft,size:12.5}),this.
steps||(t.strokeStyle=e.ink,t.lineWidth=1.5,t.setLineDash([3,4]),t.beginPath(),t.arc(n(this.start[0]),h(this.start[1]),24,0,7),t.stroke(),t.
setLineDash([]),T(t,"drag",n(this.start[0])-29,h(this.start[1]),{align:"right",color:e.soft,size:12.5}))}drawTruth(t,s,a,e){this.density||this.
paintTruth();let{columns:i,rows:o,lines:n}=this.density;t.strokeStyle=e.truth,n.forEach((h,l)=>{t.lineWidth=l?1.4:2.4,t.beginPath();for(let[
d,g,m,c]of h)t.moveTo(d/(i-1)*s,g/(o-1)*a),t.lineTo(m/(i-1)*s,c/(o-1)*a);t.stroke()}),T(t,"true posterior: 50 % and 95 % of its mass",10,14,
{color:e.truth,weight:600})}drawTrail(t,s,a,e,i,o){t.globalAlpha=o,t.strokeStyle=t.fillStyle=a,t.lineWidth=1.6,t.beginPath();for(let[h,l]of s)
t.lineTo(e(h),i(l));t.stroke();let n=s.at(-1);t.globalAlpha=Math.min(1,2*o),t.beginPath(),t.arc(e(n[0]),i(n[1]),3,0,7),t.fill(),t.globalAlpha=
1}drawRun(t,s,{learner:a,trail:e},i,o,n){let h=L(s),{q:l,last:d}=a,[g,m]=[i(l.mean[0]),o(l.mean[1])];s==="sgld"||s==="hmc"?(this.drawTrail(t,
e.slice(-160),h,i,o,s==="hmc"?.08:.3),d?.path&&this.drawTrail(t,d.path,h,i,o,.4)):this.drawTrail(t,e,h,i,o,.75);let c=(p,f)=>{t.beginPath(),
t.ellipse(i(p.mean[0]),o(p.mean[1]),f*Math.exp(p.logStd[0])*n,f*Math.exp(p.logStd[1])*n,0,0,7)};if(t.fillStyle=t.strokeStyle=h,X[s]&&(t.globalAlpha=
.16,c(l,2),t.fill(),t.globalAlpha=1,t.lineWidth=2,c(l,2),t.stroke(),s==="sabma"&&d?.there)){t.lineWidth=1.4,t.setLineDash([4,4]),c(d.there,2),
t.stroke(),t.setLineDash([]),t.beginPath(),t.moveTo(g,m),t.lineTo(i(d.there.mean[0]),o(d.there.mean[1])),t.stroke();let p=o(d.there.mean[1])+
2*Math.exp(d.there.logStd[1])*n+9;T(t,n<80?"worst q′":"q′, worst in the radius",Math.max(76,Math.min(6*n-76,i(d.there.mean[0]))),Math.min(
4*n-10,p),{color:h,size:12.5,align:"center"})}if(s==="sam"&&d?.e&&this.steps<tt&&(t.lineWidth=1.5,t.beginPath(),t.arc(i(d.from[0]),o(d.from[1]),
this.settings.rho*n,0,7),t.setLineDash([4,4]),t.stroke(),t.setLineDash([]),t.beginPath(),t.moveTo(g,m),t.lineTo(i(d.from[0]+d.e[0]),o(d.from[1]+
d.e[1])),t.stroke()),s!=="gd"&&s!=="sam"){t.fillStyle=h,t.globalAlpha=.8;for(let p of a.members(this.draws,this.noise))t.beginPath(),t.arc(i(
p[0]),o(p[1]),2.4,0,7),t.fill();t.globalAlpha=1}ft(t,j(s)[3],g,m,5.5,h)}driftOf(t,s,a){let e=Array.from({length:25},(h,l)=>_[0]+.25*l),{q:i,
prior:o,settings:n}=s;return e.map(h=>{let l={mean:Float64Array.of(h,a),logStd:i.logStd};if(!X[t])return[h,-Bt(this.loss,l.mean.slice(),new Float64Array(
2),o,{...n,rate:1,radius:t==="sam"?n.radius:0}).there[0]];let d=J(this.loss,l,Vt),g=t==="sabma"&&n.radius?J(this.loss,Tt(l,d,n.radius).there,
Vt):d;return[h,-g.mean[0]-n.T*At(l,o).mean[0]]})}drawSection(t,s,a){if(!this.runs)return;let e=O(),i=this.runs.get(this.chosen)??this.runs.values().
next().value,o=i.learner.q.mean[1],n=[...this.runs.keys()].filter(p=>!qt[p]),h=17*n.length,l=a-h-8,d=1.3*this.world.top,g=(this.relief?.low??
0)-.1*d,m=p=>(p-_[0])/6*s,c=p=>l-(l-24)*Math.min(1.05,(p-g)/d);t.beginPath(),t.moveTo(0,l);for(let p=0;p<=240;p++)t.lineTo(s*p/240,c(this.loss.
both([_[0]+p/40,o],null)));t.lineTo(s,l),t.fillStyle=`rgb(${e.high.join()})`,t.globalAlpha=.75,t.fill(),t.globalAlpha=1,t.lineWidth=1.5,t.strokeStyle=
e.soft,t.stroke(),T(t,"loss along w₁, cut through the mean",2,10,{color:e.soft,size:12.5,halo:!1}),T(t,"arrows: where a step moves the mea\
n",2,25,{color:e.soft,size:12.5});for(let[p,{learner:f}]of this.runs){let{q:u}=f,b=L(p),y=m(u.mean[0]),v=this.loss.both([u.mean[0],o],null);
if(X[p]){let w=Math.exp(u.logStd[0]),k=It(this.loss,u);t.strokeStyle=b,t.lineWidth=3,t.beginPath(),t.moveTo(m(u.mean[0]-2*w),c(k)),t.lineTo(
m(u.mean[0]+2*w),c(k)),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(y,c(k)),t.lineTo(y,c(v)),t.stroke()}ft(t,j(p)[3],y,c(v),4.5,b)}this.
drifts??=n.map(p=>[p,this.driftOf(p,this.runs.get(p).learner,o)]),this.drifts.forEach(([p,f],u)=>{let b=l+14+17*u;t.fillStyle=L(p);for(let[y,
v]of f){let w=4*Math.tanh(Math.abs(v)*4)+1,k=Math.sign(v);t.beginPath(),t.moveTo(m(y)+k*w,b),t.lineTo(m(y)-k*w,b-w),t.lineTo(m(y)-k*w,b+w),t.
fill()}})}drawTraces(t,s,a){if(!this.runs)return;let e=[["expected loss","expected"],["worst loss in the ball","worst"],["λ₁, sharpest curva\
ture at the mean","lambda"],["KL(q ‖ prior)","kl"]],i=a/e.length;e.forEach(([o,n],h)=>Lt(t,0,h*i,s,i-6,o,[...this.runs].map(([l,d])=>({color:L(
l),x:d.x,y:d[n]})).filter(l=>l.y.some(Number.isFinite)),{most:tt}))}};var Gs={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{radius:1,kappa:1}};function fs(r,t={}){let s=x(
"div",{class:"pg"});Qt(s),s.append(x("style",{},hs));let a=new Set(t.worlds??["weights","step","network","gap"]),e={},i=(n,h,l)=>s.append(x(
"h2",{},n),...h.map(d=>x("p",{},d)),l);(a.has("weights")||a.has("step"))&&(e.weights=new Ot(t),i("Two weights",[],e.weights.node)),a.has("st\
ep")&&(e.step=new Pt(e.weights),i("One step of SA-BMA",["From where SA-BMA stands above, whenever the run above rests."],e.step.node)),a.has(
"network")&&(e.network=new bt(t),i("A network of about fifty weights",["The same two trainings, of a network. Flat shows as wide rings of th\
e loss around the draws. Spirals come first because there the flatter training mostly has the lower test loss as well; on the moons it is a \
matter of the seed."],e.network.node)),a.has("gap")&&(e.gap=new bt({...t,...Gs}),i("A regression with a gap",["No points lie in the middle, \
so an honest answer is unsure there. HMC draws from the exact posterior, if it runs long enough: its band is narrow at the points and wide b\
etween them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands are too wide at the points and widen less in the middle."],
e.gap.node));let o=()=>{s.dataset.theme=B()?"dark":"light";for(let n of Object.values(e))n.recolor()};return r.replaceChildren(s),o(),s.playground=
e,Yt(o)}var Hs={render:({model:r,el:t})=>fs(t,{worlds:r.get("worlds"),autoplay:!1})};return Ms(Ks);})();
