var flatvizPlayground=(()=>{var ds=Object.defineProperty;var Ne=Object.getOwnPropertyDescriptor;var Pe=Object.getOwnPropertyNames;var Fe=Object.prototype.hasOwnProperty;var Ce=(o,t)=>{for(var s in t)ds(o,s,{get:t[s],enumerable:!0})},De=(o,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of Pe(
t))!Fe.call(o,i)&&i!==s&&ds(o,i,{get:()=>t[i],enumerable:!(e=Ne(t,i))||e.enumerable});return o};var je=o=>De(ds({},"__esModule",{value:!0}),o);var $i={};Ce($i,{default:()=>Ai,mount:()=>Le});function G(){let{body:o,documentElement:t}=document;return o.dataset.jpThemeLight?o.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Os(o){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(o);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",o),()=>{
s.disconnect(),t.removeEventListener("change",o)}}function qs(o){o.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return o.addEventListener("keydown",t),()=>o.removeEventListener("keydown",t)}var ot=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},K=(o,t)=>{let s=0;for(let e=0;e<o.length;e++)
s+=o[e]*t[e];return s},gt=o=>Math.sqrt(K(o,o)),_=(o,t,s=1)=>o.map((e,i)=>e+s*t[i]),F=o=>new Float64Array(o),Be=1e-12,ze={bowl:({at:[o,t],h:s},e,i,r)=>(r[0]+=
s*(e-o),r[1]+=s*(i-t),.5*s*((e-o)**2+(i-t)**2)),dent:({at:[o,t],depth:s,width:e},i,r,n)=>{let[a,h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*
(((i-o)/a)**2+((r-t)/h)**2));return n[0]+=l*(i-o)/(a*a),n[1]+=l*(r-t)/(h*h),-l},valley:({k:o,a:t,b:s},e,i,r)=>{let n=i-t*e*e-s;return r[0]-=
2*o*n*t*e,r[1]+=o*n,.5*o*n*n},wall:({at:o,height:t,soft:s},e,i,r)=>{let n=Math.tanh((e-o)/s);return r[0]+=t*(1-n*n)/(2*s),.5*t*(1+n)},modes:({
a:o,b:t,narrow:s,ratio:e},i,r,n)=>{let a=s*e,h=((i-o[0])**2+(r-o[1])**2)/(2*s**2),l=((i-t[0])**2+(r-t[1])**2)/(2*a**2),c=Math.min(h,l),f=Math.
exp(c-h),p=Math.exp(c-l),d=f/(f+p);return n[0]+=d*(i-o[0])/s**2+(1-d)*(i-t[0])/a**2,n[1]+=d*(r-o[1])/s**2+(1-d)*(r-t[1])/a**2,c-Math.log(f+p)+
Math.log(2)}},Re=F(2);function Ns(o){return{dim:2,both(t,s){let e=s??Re;e[0]=e[1]=0;let i=0;for(let r of o)i+=ze[r.kind](r,t[0],t[1],e);return i}}}
function Ps(o,[t,s],e){let i=F(2);return{dim:2,both(r,n){i[0]=r[0]-t,i[1]=r[1]-s-e*(r[0]*r[0]-1);let a=o.both(i,n);return n&&(n[0]-=2*e*r[0]*
n[1]),a}}}var Gt=class{constructor(t){this.widths=t,this.starts=[],this.dim=0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=
t[s]*(t[s-1]+1);this.a=t.map(s=>F(s)),this.d=t.map(s=>F(s))}init(t,s=1){let e=F(this.dim);return this.starts.forEach((i,r)=>{let n=this.widths[r+
1]*(this.widths[r]+1);for(let a=0;a<n;a++)e[i+a]=s*t.normal()/Math.sqrt(this.widths[r])}),e}forward(t,s,e){let{a:i,widths:r,starts:n}=this,a=r.
length-1;for(let h=0;h<r[0];h++)i[0][h]=s[e+h];for(let h=0;h<a;h++){let l=i[h],c=i[h+1],f=r[h],p=r[h+1],d=n[h]+f*p;for(let m=0,g=n[h];m<p;m++){
let u=t[d+m];for(let w=0;w<f;w++)u+=t[g++]*l[w];c[m]=h+1<a?Math.tanh(u):u}}return i[a]}backward(t,s){let{a:e,d:i,widths:r,starts:n}=this;for(let a=r.
length-2;a>=0;a--){let h=e[a],l=i[a+1],c=i[a],f=r[a],p=r[a+1],d=n[a]+f*p;c.fill(0);for(let m=0,g=n[a];m<p;m++){let u=l[m];s[d+m]+=u;for(let w=0;w<
f;w++,g++)s[g]+=u*h[w],c[w]+=u*t[g]}if(a>0)for(let m=0;m<f;m++)c[m]*=1-h[m]*h[m]}}},We=.5*Math.log(2*Math.PI);function Fs(o,{x:t,y:s,noise:e}){
let i=s.length,r=o.widths[0],n=o.widths.at(-1),a=o.d.at(-1);return{dim:o.dim,both(h,l){l&&l.fill(0);let c=0;for(let f=0;f<i;f++){let p=o.forward(
h,t,f*r);if(e){let d=(p[0]-s[f])/e;c+=.5*d*d+Math.log(e)+We,a[0]=d/e/i}else{let d=-1/0,m=0;for(let g=0;g<n;g++)d=Math.max(d,p[g]);for(let g=0;g<
n;g++)a[g]=Math.exp(p[g]-d),m+=a[g];c+=d+Math.log(m)-p[s[f]];for(let g=0;g<n;g++)a[g]=(a[g]/m-(g===s[f]?1:0))/i}l&&o.backward(h,l)}return c/
i}}}var qt=(o,t)=>o.mean.map((s,e)=>s+Math.exp(o.logStd[e])*t[e]),ht=o=>({mean:o.mean.slice(),logStd:o.logStd.slice()});function nt(o,t,s){let e={
value:0,mean:F(o.dim),logStd:F(o.dim)},i=F(o.dim);for(let r of s){e.value+=o.both(qt(t,r),i)/s.length;for(let n=0;n<i.length;n++)e.mean[n]+=
i[n]/s.length,e.logStd[n]+=i[n]*Math.exp(t.logStd[n])*r[n]/s.length}return e}function Nt(o,t){let s={value:0,mean:F(o.mean.length),logStd:F(
o.mean.length)};for(let e=0;e<o.mean.length;e++){let i=Math.exp(-2*t.logStd[e]),r=o.mean[e]-t.mean[e],n=Math.exp(2*o.logStd[e])*i;s.value+=.5*
(n+r*r*i-1)+t.logStd[e]-o.logStd[e],s.mean[e]=i*r,s.logStd[e]=n-1}return s}function fs(o,t,s){let e=t.mean.map((l,c)=>Math.exp(2*o.logStd[c])*
l),i=t.logStd.map(l=>l/2),r=K(t.mean,e),n=Math.max(r+K(t.logStd,i),1e-300),a=s/Math.sqrt(n),h={mean:e.map(l=>a*l),logStd:i.map(l=>a*l)};return{
delta:h,share:r/n,there:{mean:_(o.mean,h.mean),logStd:_(o.logStd,h.logStd)}}}var Ue=(o,t)=>{let s=t/(gt(o)+Be);return o.map(e=>e*s)},Ge=.2,Ut=.9,
_t=o=>({mean:F(o),squares:F(o+1),filled:0});function Cs(o,t,s,e,i,{rate:r,momentum:n,T:a}){let h=Nt(o,e),l=o.mean.length,c=F(l),f=F(l),p=a||
1,d=o.logStd.map(Math.exp);for(let g=0;g<l;g++){let u=Math.exp(-2*e.logStd[g]),w=1/(d[g]*d[g]);if(c[g]=s.mean[g]/p,f[g]=s.logStd[g]/p,a)for(let v of i){
let y=u*(o.mean[g]-e.mean[g])+(u-w)*d[g]*v[g];c[g]+=y/i.length,f[g]+=y*d[g]*v[g]/i.length}}t.filled=Ut*t.filled+1-Ut;let m=t.squares.map((g,u)=>{
let w=u?f[u-1]*f[u-1]:c.reduce((v,y,x)=>v+y*y*d[x]*d[x],0);return t.squares[u]=Ut*g+(1-Ut)*w,1/(1+Math.sqrt(t.squares[u]/t.filled))});for(let g=0;g<
l;g++)t.mean[g]=n*t.mean[g]+m[0]*d[g]*d[g]*c[g],o.mean[g]-=r*t.mean[g],o.logStd[g]-=.5*Ge*r*m[g+1]*f[g];return h}function Vt(o,t,s,e,i,r){let n=nt(
o,t,i);return{from:ht(t),g:n,pull:Cs(t,s,n,e,i,r)}}function gs(o,t,s,e,i,r){if(r.radius===0)return Vt(o,t,s,e,i,r);let n=ht(t),a=nt(o,t,i),h=fs(
t,a,r.radius),l=nt(o,h.there,i);return{from:n,g:a,...h,worst:l,pull:Cs(t,s,l,e,i,r)}}function us(o,t,s,e,{rate:i,momentum:r,T:n,radius:a=0}){
let h=t.slice(),l=F(t.length),c=o.both(t,l),f=a?Ue(l,a):null,p=F(t.length),d=f?o.both(_(t,f),p):(p.set(l),c);for(let m=0;m<t.length;m++)s[m]=
r*s[m]+p[m]+n*Math.exp(-2*e.logStd[m])*(t[m]-e.mean[m]),t[m]-=i*s[m];return{from:h,value:c,at:d,g:l,e:f,there:p}}function _e(o,t,s,e,{rate:i,
T:r}){let n=F(t.length),a=o.both(t,n);for(let h=0;h<t.length;h++){let l=r*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-i*(n[h]+l)+Math.sqrt(
2*i*r)*e[h]}return{value:a,g:n}}function Ve(o,t,s,e){let i=F(e.length),r=o.both(qt(t,e),i);for(let n=0;n<e.length;n++)i[n]=i[n]*Math.exp(t.logStd[n])/
s+e[n];return{value:r/s+.5*K(e,e),slope:i,mean:r}}function Ye(o,t,s,e,i,r,n){let a=_(s,e.slope,-.5*i);for(let h=0;h<r;h++)t=_(t,a,i),e=o(t),
a=_(a,e.slope,h<r-1?-i:-.5*i),n?.push(t);return{z:t,momentum:a,at:e}}var ps=class{t;error;accept;first;average;constructor(t,s=.8){Object.assign(
this,{t:0,error:0,log:Math.log(t),average:Math.log(t),first:Math.log(t),accept:s})}get size(){return Math.exp(this.log)}follow(t){this.t+=1,
this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=this.t**-.75*
(this.log-this.average)}settle(){Object.assign(this,{t:0,error:0,log:this.average,first:this.average})}};function He(o,t,s,e,i,r,n,{time:a=Math.
PI/2,most:h=500,path:l=void 0}={}){let c=Math.min(h,Math.ceil(i*a/n)),f=Ye(o,t,e,s,n,c,l),p=s.value+.5*K(e,e)-f.at.value-.5*K(f.momentum,f.momentum),
d=Number.isFinite(p)?Math.exp(Math.min(0,p)):0;return r<d?{z:f.z,at:f.at,rate:d,n:c,taken:!0}:{z:t,at:s,rate:d,n:c,taken:!1}}var Pt=["gd","s\
am","vi","sabma","sgld","hmc"],V={vi:!0,sabma:!0},lt={sgld:!0,hmc:!0},kt=class{settings;random;loss;method;prior;steps;gradients;kept;constructor(t,s,e,i,r,n){
Object.assign(this,{method:t,loss:s,prior:e,settings:r,random:new ot(n),steps:0,gradients:0,kept:[]}),this.q=ht(i),this.velocity=_t(s.dim),t===
"hmc"&&(this.z=i.mean.map((a,h)=>(a-e.mean[h])/Math.exp(e.logStd[h])),this.size=new ps(.1))}get finite(){return this.q.mean.every(t=>Number.
isFinite(t)&&Math.abs(t)<1e6)&&this.q.logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(
this.loss.dim))}step(){let{method:t,loss:s,q:e,velocity:i,prior:r,settings:n}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let a=this.noise();
this.last=(t==="vi"?Vt:gs)(s,e,i,r,a,n),this.last.noise=a,this.gradients+=a.length*(this.last.worst?2:1)}else if(t==="gd"||t==="sam"){let a=t===
"sam"?n.radius:0;this.last=us(s,e.mean,i.mean,r,{...n,radius:a}),this.gradients+=a?2:1}else t==="sgld"?(this.last=_e(s,e.mean,r,this.random.
normals(s.dim),n),this.gradients+=1,this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:e,
random:i}=this,r=l=>Ve(t,s,e.T,l),n=[],a=i.normals(t.dim),h=.5+i.uniform();this.last=He(r,this.z,r(this.z),a,h,i.uniform(),this.size.size,{path:n,
most:e.most??200}),this.last.path=n.map(l=>qt(s,l)),this.z=this.last.z,this.gradients+=this.last.n,this.steps<=60&&this.size.follow(this.last.
rate),this.steps===60&&this.size.settle(),this.q.mean.set(qt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.
push(t),this.kept.length>400&&this.kept.shift())}members(t,s){if(V[this.method])return s.slice(0,t).map(e=>qt(this.q,e));if(lt[this.method]&&
this.kept.length){let e=Math.max(1,Math.floor(this.kept.length/2/t));return this.kept.filter((i,r)=>(this.kept.length-1-r)%e===0).slice(-t)}
return[this.q.mean]}};function Xe(o,t,s){let e=.001/Math.max(gt(s),1e-300),i=l=>{let c=F(t.length);return o.both(_(t,s,l*e),c),c},[r,n,a,h]=[
i(1),i(-1),i(2),i(-2)];return r.map((l,c)=>(8*(r[c]-n[c])-(a[c]-h[c]))/(12*e))}function Mt(o,t,s,e=40,i=null){let r=t.length,n=Math.min(r,e),
a=[],h=[],l=[],c=new ot(0).normals(r);for(let{vector:d}of i??[])c=_(c,d,10*Math.sqrt(r));c=c.map(d=>d/gt(c));for(let d=0;d<n;d++){a.push(c);
let m=Xe(o,t,c);h.push(K(c,m));for(let u=0;u<2;u++)for(let w of a)m=_(m,w,-K(w,m));let g=gt(m);if(d===n-1||g<1e-9)break;l.push(g),c=m.map(u=>u/
g)}let f=a.length,p=Array.from({length:f},(d,m)=>Float64Array.from({length:f},(g,u)=>m===u?h[m]:Math.abs(m-u)===1?l[Math.min(m,u)]:0));return Ke(
p).slice(0,s).map(({value:d,vector:m})=>{let g=F(r);return a.forEach((u,w)=>{for(let v=0;v<r;v++)g[v]+=m[w]*u[v]}),{value:d,vector:g}})}function Ke(o){
let t=o.length,s=o.map((e,i)=>Float64Array.from({length:t},(r,n)=>i===n?1:0));for(let e=0;e<40;e++){let i=0;for(let r=0;r<t;r++)for(let n=r+
1;n<t;n++){if(i+=o[r][n]**2,Math.abs(o[r][n])<1e-300)continue;let a=(o[n][n]-o[r][r])/(2*o[r][n]),h=(a>=0?1:-1)/(Math.abs(a)+Math.hypot(a,1)),
l=1/Math.hypot(h,1),c=h*l;for(let f=0;f<t;f++){let p=o[f][r],d=o[f][n];o[f][r]=l*p-c*d,o[f][n]=c*p+l*d}for(let f=0;f<t;f++){let p=o[r][f],d=o[n][f];
o[r][f]=l*p-c*d,o[n][f]=c*p+l*d}for(let f=0;f<t;f++){let p=s[f][r],d=s[f][n];s[f][r]=l*p-c*d,s[f][n]=c*p+l*d}}if(i<1e-24)break}return o.map(
(e,i)=>({value:e[i],vector:s.map(r=>r[i])})).sort((e,i)=>i.value-e.value)}var ms=[];for(let o=-4.5;o<=4.5;o+=.5)for(let t=-4.5;t<=4.5;t+=.5)
ms.push([o,t,Math.exp(-.5*(o*o+t*t))]);var Qe=ms.reduce((o,t)=>o+t[2],0);function Yt(o,t){let[s,e]=t.logStd.map(Math.exp),i=F(2),r=0;for(let[
n,a,h]of ms)i[0]=t.mean[0]+s*n,i[1]=t.mean[1]+e*a,r+=h*o.both(i,null);return r/Qe}function Ds(o,t,s){let e=o.both(t,null);for(let i=1;i<=4;i++)
for(let r=0;r<32;r++){let n=s*i/4,a=2*Math.PI*r/32;e=Math.max(e,o.both([t[0]+n*Math.cos(a),t[1]+n*Math.sin(a)],null))}return e}function ws(o,t,s){
let e=-1/0,i=0;for(let r of o)e=Math.max(e,r);for(let r=0;r<o.length;r++)t[s+r]=Math.exp(o[r]-e),i+=t[s+r];for(let r=0;r<o.length;r++)t[s+r]/=
i}function js(o,t,s){let e=o.widths[0],i=o.widths.at(-1),r=s.length/e,n=F(r*i),a=F(r*i);for(let h of t){for(let l=0;l<r;l++)ws(o.forward(h,s,
l*e),a,l*i);for(let l=0;l<n.length;l++)n[l]+=a[l]/t.length}return n}function Bs(o,t){let s=o.length/t.length;return t.reduce((e,i,r)=>e-Math.
log(Math.max(o[r*s+i],1e-300)),0)/t.length}function zs(o,t){let s=o.length/t.length;return t.filter((e,i)=>{for(let r=0;r<s;r++)if(o[i*s+r]>
o[i*s+e])return!1;return!0}).length/t.length}function Rs(o,t,s=15){let e=o.length/t.length,i=F(s);return t.forEach((r,n)=>{let a=0;for(let c=1;c<
e;c++)o[n*e+c]>o[n*e+a]&&(a=c);let h=o[n*e+a],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));i[l]+=(a===r?1:0)-h}),i.reduce((r,n)=>r+Math.abs(
n),0)/t.length}function b(o,t={},...s){let e=document.createElement(o);for(let[i,r]of Object.entries(t))i.startsWith("on")?e.addEventListener(i.slice(2),r):
r!==null&&r!==!1&&e.setAttribute(i,r===!0?"":r);return e.append(...s.filter(i=>i!=null)),e}var j=(o,t,s,e={})=>b("button",{type:"button",title:t,
onclick:s,...e},o),A=o=>Number.isFinite(o)?Number(o.toPrecision(3)).toString():"–",O=o=>METHOD_STYLES[o],k=o=>O(o)[G()?2:1],it=class{stops;say;constructor(t,s,e,i,{
say:r=a=>String(a),help:n=""}={}){Object.assign(this,{stops:s,say:r}),this.input=b("input",{type:"range",min:0,max:s.length-1,step:1,"aria-l\
abel":t}),this.text=b("output"),this.node=b("div",{class:"pg-slider",title:n||null},b("span",{},t),this.text,this.input),this.input.addEventListener(
"input",()=>{this.told(),i(this.value,!1)}),this.input.addEventListener("change",()=>i(this.value,!0)),this.value=e}get value(){return this.
stops[Number(this.input.value)]}set value(t){let s=this.stops.map(e=>Math.abs(e-t));this.input.value=s.indexOf(Math.min(...s)),this.told()}told(){
this.text.textContent=this.say(this.value),this.input.setAttribute("aria-valuetext",this.text.textContent)}};function ut(o,t,s,e){let i=b("s\
elect",{"aria-label":o},...t.map(([r,n])=>b("option",{value:r,selected:r===s},n)));return i.addEventListener("change",()=>e(i.value)),b("lab\
el",{class:"pg-menu"},b("span",{},o),i)}var H=class{most;least;width;height;dense;paint;constructor(t,{ratio:s,label:e,least:i=0,most:r=1/0}){
this.canvas=b("canvas",{role:"img","aria-label":e}),this.node=b("div",{class:"pg-board"},this.canvas),Object.assign(this,{paint:t,ratio:s,least:i,
most:r,width:0,height:0}),new ResizeObserver(()=>this.fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.
min(this.most,Math.max(this.least,t*this.ratio)));if(!t||t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);Object.
assign(this,{width:t,height:s,dense:e,resized:!0}),Object.assign(this.canvas,{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.
draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.width)return;let t=this.canvas.getContext("2d");t.setTransform(this.
dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap="round",this.paint(t,this.width,this.height)}say(t){this.
canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},St=class{seconds;frame;constructor(t,s){Object.assign(this,
{frame:s,playing:!1,visible:!1,request:0,last:0,seconds:[]}),new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.wake()},{threshold:.05}).
observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=performance.now();let t=s=>{
if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.seconds.push(e),this.seconds.length>120&&this.
seconds.shift(),this.request=requestAnimationFrame(t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}get rate(){return this.
seconds.length/this.seconds.reduce((t,s)=>t+s,0)}},Ht=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},Je={light:{ink:"\
#1f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{
ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"#3a434d",low:[14,54,74],high:[72,67,60],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},L=()=>Je[G()?
"dark":"light"];function S(o,t,s,e,{color:i=L().ink,size:r=13,align:n="left",weight:a=400,halo:h=!0,base:l="middle"}={}){o.font=`${a} ${r}px\
 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`,o.textAlign=n,o.textBaseline=l,h&&(o.lineWidth=3.5,o.strokeStyle=L().halo,
o.strokeText(t,s,e)),o.fillStyle=i,o.fillText(t,s,e)}function Q(o,t,s,e,i,r){if(o.beginPath(),o.lineWidth=2.5,o.strokeStyle=o.fillStyle=r,t===
"x"){o.moveTo(s-i,e-i),o.lineTo(s+i,e+i),o.moveTo(s+i,e-i),o.lineTo(s-i,e+i),o.stroke();return}if(t==="cross"){o.moveTo(s-i,e),o.lineTo(s+i,
e),o.moveTo(s,e-i),o.lineTo(s,e+i),o.stroke();return}t==="square"?o.rect(s-i,e-i,2*i,2*i):t==="triangle-up"?(o.moveTo(s,e-1.2*i),o.lineTo(s+
1.1*i,e+i),o.lineTo(s-1.1*i,e+i),o.closePath()):o.arc(s,e,i,0,2*Math.PI),o.fill(),o.lineWidth=1.5,o.strokeStyle=L().paper,o.stroke()}function ct(o,t,s,e){
let i=[],r=(n,a)=>(e-n)/(a-n);for(let n=0;n+1<t;n++)for(let a=0;a+1<s;a++){let h=n*s+a,l=o[h],c=o[h+1],f=o[h+s+1],p=o[h+s],d=[];l<e!=c<e&&d.
push([a+r(l,c),n]),c<e!=f<e&&d.push([a+1,n+r(c,f)]),p<e!=f<e&&d.push([a+r(p,f),n+1]),l<e!=p<e&&d.push([a,n+r(l,p)]);for(let m=0;m+1<d.length;m+=
2)i.push([...d[m],...d[m+1]])}return i}function dt(o,t,s,e,i,r){o.beginPath();for(let[n,a,h,l]of t)o.moveTo(n/(e-1)*i,a/(s-1)*r),o.lineTo(h/
(e-1)*i,l/(s-1)*r);o.stroke()}function Xt(o,t,s,e,i,r,n,{log:a=!1,most:h=0}={}){let l=L(),c=52,f=x=>a?Math.log10(Math.max(x,1e-6)):x,p=n.flatMap(
x=>x.y.filter(Number.isFinite).map(f)),[d,m]=[Math.min(...p),Math.max(...p)];p.length||([d,m]=[0,1]);let g=a?.6:.05*Math.max(1,Math.abs(m));
m-d<g&&([d,m]=[(d+m-g)/2,(d+m+g)/2]);let u=Math.max(h,...n.map(x=>x.x.at(-1)??0),10),w=x=>t+(e-c)*x/u,v=x=>s+i-7-(i-32)*(f(x)-d)/(m-d);o.strokeStyle=
l.line,o.lineWidth=1,o.beginPath(),o.moveTo(t,s+i-.5),o.lineTo(t+e-c,s+i-.5),o.stroke(),S(o,r,t,s+9,{color:l.soft,size:12.5,halo:!1});let y=[];
for(let x of n){o.beginPath(),x.y.forEach(($,B)=>{Number.isFinite($)&&o.lineTo(w(x.x[B]),v($))}),o.strokeStyle=x.color,o.globalAlpha=x.faint?
.25:x.thin?.6:1,o.lineWidth=x.faint||x.thin?1.2:2.4,o.stroke(),o.globalAlpha=1;let M=x.y.at(-1);!x.faint&&!x.thin&&Number.isFinite(M)&&y.push(
{x:w(x.x.at(-1))+6,y:v(M),text:A(M),color:x.color})}y.sort((x,M)=>x.y-M.y),y.forEach((x,M)=>{M&&x.y<y[M-1].y+14&&(x.y=y[M-1].y+14)});for(let x=y.
length-1,M=s+i;x>=0;M=y[x].y-14,x--)y[x].y=Math.min(y[x].y,M);for(let x of y)S(o,x.text,x.x,x.y,{color:x.color,size:12.5,weight:600})}var Y=27,R=23,bs=1.2,Ze=1.5,ti=200,xs=1500,si=3,vs=.15,Ws=[[78,134,181],[214,133,62]],Us={spiral:"spirals",moons:"two moons",circles:"circle\
s",xor:"XOR",none:"your points alone, two of each or more"},ei="a regression with a gap",_s={one:["one layer of 12",[12]],two:["two layers o\
f 8",[8,8]]};function Gs(o,t,s,e){let i=new Float64Array(o==="gap"?t:2*t),r=o==="gap"?new Float64Array(t):new Int32Array(t);for(let n=0;n<t;n++){
let a=n%2,h=e.uniform(),l=a?-1:1;if(o==="gap"){i[n]=a?-1.8+.8*h:.8+h,r[n]=Math.sin(2.2*i[n])+vs*e.normal();continue}let[c,f]={moons:()=>a?[.5-
1.2*Math.cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let p=a?.6:1.5;return[
p*Math.cos(2*Math.PI*h),p*Math.sin(2*Math.PI*h)]},spiral:()=>{let p=.25+1.5*h,d=4.2*h+(a?Math.PI:0);return[p*Math.cos(d),p*Math.sin(d)]},xor:()=>{
let p=e.uniform()<.5?1:-1;return[p*(.25+1.3*h),p*l*(.25+1.3*e.uniform())]}}[o]();i[2*n]=c+s*e.normal(),i[2*n+1]=f+s*e.normal(),r[n]=a}return{
x:i,y:Array.from(r),noise:o==="gap"?vs:null}}var ys=class{world;x;test;ece;lambda;fields;turn;constructor(t,s){Object.assign(this,{world:t,method:s,
shadows:[]}),this.plane=new H((e,i,r)=>this.drawInputs(e,i,r),{ratio:.8,label:""}),this.loss=new H((e,i,r)=>this.drawLoss(e,i,r),{ratio:.5,label:"",
most:230}),this.plane.canvas.addEventListener("click",e=>t.add(e,this.plane.canvas)),this.menu=ut("method",["gd","sam","vi","sabma","sgld","\
hmc"].map(e=>[e,O(e)[0]]),s,e=>{this.method=e,this.shadows=[],t.again()}),this.node=b("div",{class:"pg-pane"},this.menu,this.plane.node,t.planes?
this.loss.node:null)}begin(){let{world:t}=this,s=t.kind==="gap",{radius:e,rho:i,kappa:r,rate:n}=t.settings;this.plane.reshape(s?.6:.8),this.
network=new Gt([s?1:2,..._s[t.net][1],s?1:2]);let a=this.network.dim,h=new ot(1e3+t.seed),l=t.train,c=s&&!V[this.method]?.05:1;this.learned=
Fs(this.network,l);let f={mean:new Float64Array(a),logStd:new Float64Array(a).fill(Math.log(1.5))},p={mean:this.network.init(h),logStd:new Float64Array(
a).fill(Math.log(.05))},d=this.method==="sgld"?.2:1,m={T:r/l.y.length,rate:n*c*d,momentum:.9,draws:2,radius:this.method==="sam"?i:e,most:s?30:
12};this.learner=new kt(this.method,this.learned,f,p,m,t.seed),this.noise=Array.from({length:30},()=>h.normals(a)),Object.assign(this,{fields:[],
turn:0,x:[],test:[],ece:[],lambda:[],axes:null,near:Mt(this.learned,this.learner.q.mean,2),drawn:null,row:0,lost:!1}),this.refresh(1/0),this.
score()}keep(){this.x.length<8||(this.shadows.push({field:this.world.kind==="gap"?this.mean:Float64Array.from(this.mean,t=>t-.5),x:this.x,test:this.
test,ece:this.ece,lambda:this.lambda}),this.shadows.length>8&&this.shadows.shift())}members(){return this.learner.members(this.world.draws,this.
noise)}step(){this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),{grid:e}=this.world,i=e.length/
this.network.widths[0],r=this.world.kind==="gap",n=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.length;for(let a=0;a<
s.length;a++){if(this.fields[a]&&(a-this.turn+s.length)%s.length>=t)continue;let h=this.fields[a]??=new Float32Array(i);for(let l=0;l<i;l++){
let c=this.network.forward(s[a],e,l*this.network.widths[0]);r?h[l]=c[0]:(ws(c,n,0),h[l]=n[1])}}t<s.length&&(this.turn+=t),this.mean=new Float32Array(
i);for(let a of this.fields)for(let h=0;h<i;h++)this.mean[h]+=a[h]/s.length}score(){let{test:t,kind:s}=this.world,e=this.members();if(this.x.
push(this.world.steps),s==="gap"){let i=t.y.reduce((r,n,a)=>{let h=e.reduce((l,c)=>{let f=(this.network.forward(c,t.x,a)[0]-n)/t.noise;return l+
Math.exp(-.5*f*f)},0)/e.length;return r-Math.log(Math.max(h,1e-30))+Math.log(t.noise)+.5*Math.log(2*Math.PI)},0);this.test.push(i/t.y.length),
this.ece.push(NaN)}else{let i=js(this.network,e,t.x);this.test.push(Bs(i,t.y)),this.ece.push(Rs(i,t.y)),this.right=zs(i,t.y)}this.lambda.push(
this.lost?NaN:(this.near=Mt(this.learned,this.learner.q.mean,2,12,this.near))[0].value)}differ(t){return Math.sqrt(this.fields.reduce((s,e)=>s+
(e[t]-this.mean[t])**2,0)/this.fields.length)}get unsure(){let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.train;return{gap:t(-.1),
points:s.reduce((e,i)=>e+t(i),0)/s.length}}curve(){this.lost||(this.axes=this.near=Mt(this.learned,this.learner.q.mean,2,12,this.near),this.
center=this.learner.q.mean.slice(),this.next=new Float64Array(R*R),this.nextAxes=this.axes,this.row=0)}fill(t){for(;this.world.planes&&t>0&&
this.next&&this.row<R;t--,this.row++)for(let s=0;s<R;s++){let[e,i]=[s,this.row].map(r=>(2*r/(R-1)-1)*bs);this.next[this.row*R+s]=this.learned.
both(_(_(this.center,this.axes[0].vector,e),this.axes[1].vector,-i/2),null)}this.next&&this.row===R&&(this.drawn={values:this.next,axes:this.
nextAxes,center:this.center},this.next=null)}draw(){this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){this.mean&&(this.world.kind==="gap"?
this.drawRegression(t,s,e):this.drawClasses(t,s,e),this.lost&&S(t,"diverged: lower rate or radius",s/2,e/2,{align:"center",weight:700}))}drawClasses(t,s,e){
let i=G(),r=i?[21,25,30]:[255,255,255],n=b("canvas",{width:Y,height:Y}),a=n.getContext("2d"),h=a.createImageData(Y,Y),l=L(),c=k(this.method);
this.mean.forEach((u,w)=>{let v=Math.abs(2*u-1),y=Ws[u>.5?1:0];for(let x=0;x<3;x++)h.data[4*w+x]=r[x]+(y[x]-r[x])*.75*v;h.data[4*w+3]=255}),
a.putImageData(h,0,0),t.imageSmoothingQuality="high",t.drawImage(n,.5,.5,Y-1,Y-1,0,0,s,e);let f=(u,w)=>dt(t,ct(u,Y,Y,w),Y,Y,s,e);t.strokeStyle=
l.ink,t.lineWidth=1.2,t.globalAlpha=.28;for(let u of this.shadows)f(u.field,0);if(t.strokeStyle=c,t.globalAlpha=.55,t.lineWidth=1.1,this.fields.
length>1)for(let u of this.fields)f(u,.5);t.globalAlpha=1,t.lineWidth=2.6,f(this.mean,.5);let{x:p,y:d}=this.world.train,[m,g]=[2.4,2];d.forEach(
(u,w)=>{let v=(p[2*w]/m+1)/2*s,y=(1-p[2*w+1]/g)/2*e;t.fillStyle=`rgb(${Ws[u].map(x=>i?Math.min(255,1.35*x):.8*x).join()})`,t.strokeStyle=l.paper,
t.lineWidth=1.5,t.beginPath(),u?t.rect(v-4.5,y-4.5,9,9):t.arc(v,y,5,0,7),t.fill(),t.stroke()}),S(t,"pale: unsure",8,e-12,{size:12.5,color:l.
soft}),S(t,this.fields.length>1?"thin lines: the draws":"one point: one line",s-8,e-12,{size:12.5,color:l.soft,align:"right"})}drawRegression(t,s,e){
let i=L(),r=k(this.method),n=this.mean.length,a=d=>d/(n-1)*s,h=d=>e/2-d/2.6*e/2,l=this.mean.map((d,m)=>2*Math.hypot(this.differ(m),vs));t.fillStyle=
t.strokeStyle=r,t.beginPath(),this.mean.forEach((d,m)=>t.lineTo(a(m),h(d+l[m])));for(let d=n-1;d>=0;d--)t.lineTo(a(d),h(this.mean[d]-l[d]));
t.globalAlpha=.16,t.fill(),t.globalAlpha=1;let c=(d,m,g)=>{t.beginPath(),d.forEach((u,w)=>t.lineTo(a(w),h(u))),t.globalAlpha=m,t.lineWidth=g,
t.stroke(),t.globalAlpha=1};t.strokeStyle=i.ink;for(let d of this.shadows)c(d.field,.25,1.2);if(t.strokeStyle=r,this.fields.length>1)for(let d of this.
fields)c(d,.45,1.1);c(this.mean,1,2.6);let{x:f,y:p}=this.world.train;t.fillStyle=i.ink,p.forEach((d,m)=>{t.beginPath(),t.arc((f[m]/3+1)/2*s,
h(d),3.6,0,7),t.fill()}),S(t,"band: two standard deviations",8,e-12,{size:12.5,color:i.soft})}drawLoss(t,s,e){let i=L();if(!this.drawn){S(t,
"loss on the plane of the two sharpest directions",2,10,{color:i.soft,size:12.5,halo:!1});return}let{values:r,axes:n,center:a}=this.drawn,h=Math.
min(...r),l=r.map(d=>Math.min(1,(d-h)/this.world.high)),c=b("canvas",{width:R,height:R}),f=c.getContext("2d"),p=f.createImageData(R,R);l.forEach(
(d,m)=>{for(let g=0;g<3;g++)p.data[4*m+g]=i.low[g]+(i.high[g]-i.low[g])*d;p.data[4*m+3]=255}),f.putImageData(p,0,0),t.drawImage(c,.5,.5,R-1,
R-1,0,0,s,e),t.strokeStyle=G()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let d=1;d<10;d++)dt(t,ct(l,R,R,d/10),R,R,s,e);t.
fillStyle=k(this.method);for(let d of this.members()){let m=_(d,a,-1);t.beginPath(),t.arc((K(m,n[0].vector)/bs+1)/2*s,(1-2*K(m,n[1].vector)/
bs)/2*e,3,0,7),t.fill()}S(t,`loss, two sharpest directions · λ₁ = ${A(n[0].value)}`,6,12,{color:i.ink,size:12.5})}},Ft=class{settings;label;seed;frames;planes;yours;constructor(t={}){
let{kind:s="spiral",methods:e=["vi","sabma"],planes:i=!0,label:r="a network",settings:n={}}=t;Object.assign(this,{kind:s,planes:i,label:r,net:"\
one",seed:1,draws:10,steps:0,frames:0,settings:{radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15,...n},yours:[],side:0}),this.panes=e.map(
a=>new ys(this,a)),this.traces=new H((a,h,l)=>this.drawTraces(a,h,l),{ratio:.16,label:"",least:190,most:330}),this.build(),this.again(),this.
clock=new St(this.panes[0].node,a=>this.frame(a)),!Ht.matches&&t.autoplay!==!1&&this.play(!0)}build(){let t=i=>(r,n)=>{this.settings[i]=r,n&&
(this.forget(),this.again(),this.play(!0))};this.sliders={};let s=(i,r,n,a,h)=>this.sliders[i]=new it(r,n,this.settings[i],t(i),{say:a,help:h}).
node;this.playButton=j("Play","play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.verdict=b("p",{class:"pg-verdict",role:"\
status"});let e=i=>r=>{i(r),this.forget(),this.again(),this.play(!0)};this.node=b("section",{class:"pg-network","aria-label":this.label},b("\
div",{class:"pg-panes"},...this.panes.map(i=>i.node)),b("div",{class:"pg-row"},this.playButton,j("Restart","the same run from its start",()=>{
this.again(),this.play(!0)}),j("New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let i of this.panes)
i.keep();this.seed+=1,this.again(),this.play(!0)}),this.planes?ut("data",Object.entries(Us),this.kind,e(i=>{this.kind=i})):null,this.planes?
ut("a click adds",[["0","a circle"],["1","a square"]],"0",i=>{this.side=Number(i)}):null,ut("network",Object.entries(_s).map(([i,[r]])=>[i,r]),
this.net,e(i=>{this.net=i}))),this.verdict,this.traces.node,b("div",{class:"pg-sliders"},s("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,
2.8,4],i=>i?`${i} × the width of q`:"0: the same as VI"),s("rho","radius of SAM",[0,.05,.1,.2,.5,1],i=>`${i}, a distance`),s("kappa","tempe\
rature",[.01,.03,.1,.3,1],i=>i===1?"1: Bayes":`${i}: colder than Bayes`,"the weight of KL(q ‖ prior)"),s("rate","learning rate",[.005,.01,
.02,.05,.1]),s("shots","points a class or side",[4,8,12,20,40,80]),s("noise","noise of the points",[0,.1,.15,.2,.3,.5]),new it("ensemble",[1,
2,5,10,20,30],10,i=>{this.draws=i;for(let r of this.panes)r.refresh(1/0);this.draw()},{say:i=>`${i} draw${i>1?"s":""}`}).node))}add(t,s){if(this.
kind==="gap")return;let e=s.getBoundingClientRect();this.yours.push([2.4*(2*(t.clientX-e.left)/e.width-1),2*(1-2*(t.clientY-e.top)/e.height),
this.side]),this.forget(),this.again(),this.play(!0)}points(t,s){let{kind:e,settings:i,yours:r}=this,n=e==="none"&&[0,1].every(c=>r.filter(f=>f[2]===
c).length>1),{x:a,y:h,noise:l}=n?{x:[],y:[],noise:null}:Gs(e==="none"?"xor":e,t,i.noise,s);return e==="gap"?{x:a,y:h,noise:l}:{x:Float64Array.
from([...a,...r.flatMap(([c,f])=>[c,f])]),y:[...h,...r.map(c=>c[2])],noise:l}}forget(){for(let t of this.panes)t.shadows=[]}again(){let{kind:t,
settings:s,seed:e}=this,i=2*s.shots,r=new ot(e);this.steps=0,this.train=this.points(i,r),this.test=t==="none"?this.train:Gs(t,ti,s.noise,r),
this.sliders.rho.hidden=this.panes.every(n=>n.method!=="sam"),this.sliders.noise.hidden=t==="gap",this.high=t==="gap"?40:Ze,this.grid=t==="g\
ap"?Float64Array.from({length:121},(n,a)=>-3+a/20):Float64Array.from({length:2*Y*Y},(n,a)=>{let h=a>>1;return a%2?2*(1-2*Math.floor(h/Y)/(Y-
1)):2.4*(2*(h%Y)/(Y-1)-1)});for(let n of this.panes)n.begin(),n.curve(),n.fill(R);this.draw()}play(t){if(t&&this.steps>=xs&&this.again(),this.
clock.play(t),this.playButton.textContent=t?"Pause":"Play",!t){for(let s of this.panes)s.refresh(1/0),s.curve(),s.fill(R),s.score();this.draw()}}advance(){
this.steps+=1;for(let t of this.panes)(t.method!=="hmc"||this.steps%2)&&t.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,(this.
due??0)+t*80);this.due>=1;this.due--)this.advance();this.frames+=1,this.jobs?.length||(this.jobs=this.round()),this.jobs.shift()(),performance.
now()-s<si&&this.jobs.shift()?.(),this.tell(),this.steps>=xs&&this.play(!1)}round(){this.rounds=(this.rounds??0)+1;let t=this.rounds%4===0,s=this.
panes.filter(i=>!i.lost),e=i=>[()=>i.refresh(2),()=>i.plane.draw(),...this.planes?[()=>i.fill(2)]:[],...t?[()=>i.score(),()=>i.loss.draw()]:
[],...this.rounds%12===2?[()=>i.curve()]:[]];return[...s.flatMap(e),...t||!s.length?[()=>this.traces.draw()]:[]]}recolor(){this.draw()}draw(){
for(let t of this.panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.frames%30===0){if(!t)return;let s=this.panes.map(e=>`${O(e.method)[0]}\
: `+(e.lost?"diverged":`test loss ${A(e.test.at(-1))}, ${this.kind==="gap"?`its draws differ by ${A(e.unsure.gap)} in the gap and ${A(e.unsure.
points)} at the points`:`ECE ${A(e.ece.at(-1))}, ${Math.round(100*e.right)} % right, λ₁ ${A(e.axes[0].value)}`}`));this.verdict.textContent=
`Step ${this.steps}. ${s.join(" · ")}${this.verdictOf()}`,this.panes.forEach((e,i)=>{e.plane.say(`What the ensemble of ${O(e.method)[0]} pr\
edicts for ${Us[this.kind]??ei}. ${s[i]}.`),e.loss.say(`Training loss of ${O(e.method)[0]} on the plane of its two sharpest directions, the \
draws projected onto it.`)}),this.traces.say(`Against steps: ${s.join("; ")}.`)}verdictOf(){let t=this.panes.filter(a=>!a.lost&&Number.isFinite(
a.test.at(-1))),s=a=>O(a.method)[0];if(this.steps<200||this.kind==="gap"||t.length<2)return this.kind==="none"?" · tested on the points them\
selves":"";let e=a=>t.reduce((h,l)=>a(l)<a(h)?l:h),i=e(a=>a.test.at(-1)),r=e(a=>a.lambda.at(-1)),n=t.reduce((a,h)=>h.lambda.at(-1)>a.lambda.
at(-1)?h:a);return`. ${i===r?`${s(i)} is flatter and has the lower test loss.`:`${s(i)} has the lower test loss, though ${i===n?"its mean is\
 the sharpest":`${s(r)} is flatter`}: flat is not all that counts.`}`}drawTraces(t,s,e){let i=[["test loss","test"],["calibration error, ECE",
"ece"],["λ₁ of the training loss at the mean","lambda"]].filter(([,h])=>h!=="ece"||this.kind!=="gap"),r=s<620,n=r?s:s/i.length-14,a=r?e/i.
length:e;i.forEach(([h,l],c)=>{let f=this.panes.flatMap(p=>[...p.shadows.map(d=>({color:k(p.method),x:d.x,y:d[l],faint:!0})),{color:k(p.method),
x:p.x,y:p[l]}]);Xt(t,r?0:c*(n+14),r?c*a:0,n,a-4,h,f.filter(p=>p.y.some(Number.isFinite)),{log:l==="lambda",most:xs})})}};var Vs=`.pg {
  --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #7b8794; --accent: #00805d;
  font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  text-align: left; container-type: inline-size; max-width: 1160px;
}
.pg[data-theme=dark] {
  --ink: #e4e7eb; --soft: #b1bac4; --paper: #15191e; --panel: #20262d; --line: #3a434d; --track: #8b97a4; --accent: #2fbf94; color-scheme: d\
ark;
}
.pg *, .pg *::before { box-sizing: border-box; }
.pg [hidden] { display: none !important; }
.pg h2 { margin: 56px 0 8px; font-size: 22px; line-height: 1.25; color: inherit; }
.pg h2:first-of-type { margin-top: 10px; }
.pg p { margin: 6px 0; max-width: 66ch; }
.pg :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
.pg button, .pg select, .pg input { font: inherit; color: inherit; }
.pg button, .pg select {
  min-height: 44px; min-width: 44px; padding: 6px 14px; background: var(--paper); border: 1px solid var(--track); border-radius: 8px; cursor\
: pointer;
}
.pg button[aria-pressed=true] { background: var(--panel); box-shadow: inset 0 0 0 1.5px var(--ink); }
.pg .pg-play, .pg .pg-next { align-self: start; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 70\
0; min-width: 92px; }
.pg .pg-row, .pg .pg-chips, .pg .pg-tools { display: flex; flex-wrap: wrap; gap: 8px; }
/* the card: question at the left, guess and answer at the right */
.pg .pg-card { display: grid; gap: 6px 32px; min-width: 0; }
.pg .pg-card p { margin: 0; }
.pg .pg-steps { display: flex; flex-wrap: wrap; gap: 4px; margin-bottom: 6px; }
.pg .pg-steps button { border: 0; border-bottom: 3px solid var(--line); border-radius: 0; padding: 4px 10px; color: var(--soft); font-size: \
15px; background: none; }
.pg .pg-steps button[aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--accent); }
.pg .pg-reply { min-height: 186px; }
.pg .pg-choose { display: flex; gap: 8px; justify-content: space-between; margin-bottom: 8px; }
.pg .pg-guess { display: flex; flex-wrap: wrap; gap: 8px; }
.pg .pg-guess button { font-weight: 600; border-width: 2px; }
.pg .pg-guess .pg-right::after { content: " ✓"; color: var(--accent); }
.pg .pg-answer { font-variant-numeric: tabular-nums; }
/* the grounds */
.pg .pg-board { position: relative; min-width: 0; }
.pg canvas { display: block; width: 100%; border-radius: 8px; }
.pg .pg-grip { border-radius: 8px; min-width: 0; }
.pg .pg-grip canvas { cursor: grab; touch-action: pan-y; }
.pg .pg-grip canvas:active { cursor: grabbing; }
.pg .pg-world, .pg .pg-net { display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); }
.pg .pg-maps { display: grid; gap: 12px; min-width: 0; }
.pg .pg-first { min-width: 0; display: grid; gap: 2px 28px; }
.pg .pg-score { display: flex; flex-wrap: wrap; gap: 4px 36px; font-variant-numeric: tabular-nums; }
.pg .pg-score div { display: grid; grid-template-columns: auto auto auto; align-items: center; gap: 0 10px; }
.pg .pg-score span { font-weight: 600; color: var(--method); }
.pg .pg-score b { font-size: 30px; line-height: 1.2; color: var(--method); min-width: 2.4em; border-bottom: 4px solid transparent; }
.pg .pg-score .pg-wins b { border-color: currentColor; }
.pg .pg-score small { font-size: 14px; line-height: 1.3; color: var(--soft); }
.pg .pg-run { align-items: center; }
/* what the first screen does not need */
.pg .pg-more > summary { cursor: pointer; font-weight: 600; padding: 10px 0; min-height: 44px; }
.pg .pg-more[open] { display: grid; gap: 12px; }
.pg .pg-chips button { display: inline-flex; align-items: center; gap: 8px; color: var(--soft); border-color: var(--line); }
.pg .pg-chips i { width: 14px; height: 14px; border-radius: 50%; border: 2.5px solid var(--method); }
.pg .pg-chips button[aria-pressed=true] {
  color: var(--ink); font-weight: 600; box-shadow: inset 0 0 0 2px var(--method); background: var(--paper); border-color: transparent;
}
.pg .pg-chips button[aria-pressed=true] i { background: var(--method); }
.pg .pg-more :is(.pg-row, .pg-chips, .pg-boards, .pg-under) { margin-top: 10px; }
.pg .pg-boards { display: grid; gap: 14px 26px; min-width: 0; }
.pg-embedded :is(h1, .lead, .pg-about, .pg > h2) { display: none; }
.pg .pg-verdict { min-height: 3em; font-variant-numeric: tabular-nums; }
.pg .pg-about { color: var(--soft); }
.pg .pg-sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 2px 20px; }
.pg .pg-slider { display: grid; grid-template-columns: auto 1fr; align-items: baseline; gap: 0 10px; font-size: 15px; margin: 0; }
.pg .pg-slider span { font-weight: 600; }
.pg .pg-slider output { color: var(--soft); text-align: right; font-variant-numeric: tabular-nums; }
.pg .pg-slider input { grid-column: 1 / -1; width: 100%; height: 44px; margin: -8px 0 -6px; accent-color: var(--accent); cursor: pointer; to\
uch-action: pan-y; }
.pg .pg-menu { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; margin: 0; max-width: 100%; min-width: 0; }
.pg .pg-menu span { font-weight: 600; }
.pg .pg-menu select { max-width: 100%; min-width: 0; }
.pg .pg-under { display: flex; flex-wrap: wrap; gap: 6px 24px; align-items: center; }
.pg .pg-under .pg-about { flex: 1 1 320px; }
@container (max-width: 859px) {
  .pg .pg-world, .pg .pg-net { gap: 6px; }
  .pg .pg-row, .pg .pg-chips { gap: 6px; }
  .pg button, .pg select { padding: 6px 10px; }
  .pg .pg-verdict { min-height: 6em; }
  .pg .pg-reply { min-height: 0; }
  .pg .pg-steps { flex-wrap: nowrap; margin-bottom: 4px; }
  .pg .pg-steps button { padding: 4px 6px; font-size: 14px; line-height: 1.2; }
  .pg .pg-ask, .pg .pg-answer { font-size: 16px; line-height: 1.4; }
  .pg .pg-maps[data-side=training] > :last-child, .pg .pg-maps[data-side=test] > :first-child { display: none; }
  .pg .pg-sides button { flex: 1; }
  .pg .pg-score { gap: 4px 12px; justify-content: space-between; }
  .pg .pg-score b { font-size: 24px; }
  .pg .pg-score div { grid-template-columns: auto auto; gap: 0 8px; }
  .pg .pg-score small { grid-column: 1 / -1; }
}
@container (min-width: 860px) {
  .pg .pg-card { grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); align-items: start; }
  .pg .pg-maps { grid-template-columns: 1fr 1fr; gap: 24px; }
  .pg .pg-sides { display: none; }
  .pg .pg-first { grid-template-columns: repeat(3, 1fr); }
  .pg .pg-found { grid-template-columns: repeat(2, 1fr); }
  .pg .pg-boards { grid-template-columns: 1.15fr 1fr 1fr; }
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
@media print { .pg canvas { height: auto !important; } .pg :is(.pg-board, .pg-pane) { break-inside: avoid; } .pg :is(button, select, input) \
{ display: none; } }
`;var Ys="http://www.w3.org/2000/svg",Ct=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step\
."],["g","g: which way the loss that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as\
 the mean could go, were the whole radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two\
 widths."],["worst","Ascend by Δ to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the wid\
ths took, the mean did not get."],["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells\
 SA-BMA from VI. It points where the slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend ag\
ainst g′ and the pull of the prior. The arrow is drawn at its true length; the thin blue one is the step of VI."]],Kt=class{world;constructor(t){
Object.assign(this,{world:t,phase:0}),this.ground=new H((s,e,i)=>this.drawGround(s,e,i),{ratio:.52,label:"",least:260,most:620}),this.svg=document.
createElementNS(Ys,"svg"),this.svg.setAttribute("aria-hidden","true"),this.ground.node.append(this.svg),this.profile=new H((s,e,i)=>this.drawProfile(
s,e,i),{ratio:.5,label:"",least:180,most:260}),this.sentence=b("p",{class:"pg-formula",role:"group","aria-label":"objective and step; point \
at a symbol to see its mark"}),this.text=b("p",{class:"pg-verdict",role:"status"}),this.slider=new it("phase",Ct.map((s,e)=>e),0,s=>this.go(
s),{say:s=>`${s+1} of ${Ct.length}`}),this.budget=b("div",{class:"pg-budget",role:"img"}),this.node=b("section",{class:"pg-step","aria-label":"\
one step of SA-BMA"},this.ground.node,b("div",{class:"pg-row"},j("Next","the next phase",()=>this.next(),{class:"pg-play"}),j("Back","the ph\
ase before",()=>this.go(Math.max(0,this.phase-1))),this.slider.node),this.text,b("div",{class:"pg-below"},b("div",{},this.sentence,this.budget),
this.profile.node)),this.write(),t.still.push(()=>this.take()),this.node.addEventListener("pointerover",s=>this.light(s.target.closest?.("[d\
ata-s]")?.dataset.s)),this.node.addEventListener("pointerleave",()=>this.light()),this.node.addEventListener("focusin",s=>this.light(s.target.
dataset?.s)),this.node.addEventListener("click",s=>{let e=s.target.closest?.(".pg-formula [data-s]")?.dataset.s;e&&(this.reveal(e),this.light(
e))}),this.take()}take(t){let s=this.world.model,e=s.runs.get("sabma")?.learner??s.learner("sabma",s.seed),i=t??ht(e.q),r=_t(2);this.prior=e.
prior,this.settings={...e.settings,radius:s.settings.radius,T:s.settings.T,rate:s.settings.rate},this.loss=s.loss,this.noise=s.noise.slice(0,
4),this.record=gs(this.loss,i,r,this.prior,this.noise,this.settings),this.after=i,this.plain=ht(this.record.from),Vt(this.loss,this.plain,_t(
2),this.prior,this.noise,this.settings);let{g:n,delta:a}=this.record;this.slope=a?K(n.mean,a.mean)+K(n.logStd,a.logStd):0,this.promised=n.value+
this.slope,this.relief=null,this.go(t?0:this.phase)}next(){this.phase<Ct.length-1?this.go(this.phase+1):this.take(this.after)}go(t){this.phase=
this.slider.value=t,this.text.textContent=`${t+1}. ${Ct[t][1]}`,this.recolor()}recolor(){this.ground.draw(),this.profile.draw(),this.tellBudget();
let t=this.record;this.profile.say(`The loss along the ascent from q${t.there?`: ${A(t.g.value)} at q, ${A(t.worst.value)} at q′, ${A(this.
promised)} by the straight line of slope g`:"; there is none at radius 0"}.`),this.ground.say(`One step of SA-BMA on the ground. ${this.text.
textContent} Loss that q expects ${A(t.g.value)}`+(t.there?`, that q′ expects ${A(t.worst.value)}.`:"; the radius is 0, so that there is n\
o q′."))}write(){let t=(s,e)=>b("span",{"data-s":s,tabindex:0,role:"button"},e);this.sentence.append("min over ",t("q","q")," of max over ",
t("worst","q′")," in ",t("ball","KL(q′ ‖ q) ≤ radius²/2")," of E",b("sub",{},"q′"),"[L] + T ",t("move","KL(q ‖ prior)"),b("br"),
t("worst","Δ")," = ",t("ball","radius")," · F⁻¹",t("g","g")," / √(",t("g","g"),"ᵀF⁻¹",t("g","g"),")",b("br"),t("worst","q′"),"\
 = ",t("q","q")," + ",t("worst","Δ"),",  ",t("there","g′")," = ",t("g","g")," + ",t("diff","(g′ − g)"),b("br"),t("q","q")," ← ",t("\
q","q")," − ",t("move","rate · F⁻¹(g′ + T ∇KL)"),b("small",{},"F: the Fisher matrix of q itself. For a mean it is 1/width², for th\
e logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients."))}reveal(t){let s=Ct.findIndex(
([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);for(let s of this.node.querySelectorAll("[data-s]"))
s.classList.toggle("pg-lit",s.dataset.s===t)}tellBudget(){let{share:t,there:s}=this.record,{radius:e}=this.settings,i=n=>`${Math.round(100*n)}\
 %`;if(this.budget.hidden=this.phase<3||!s,this.budget.hidden)return;let r=`${i(t)} of radius² went into the means, ${i(1-t)} into the widt\
hs: the mean of q′ lies at √${t.toFixed(2)} = ${i(Math.sqrt(t))} of the way to the edge.`;this.budget.setAttribute("aria-label",r),this.
budget.replaceChildren(b("div",{class:"pg-bar"},b("i",{style:`width:${100*t}%`},t>.25?"means":""),b("b",{style:`width:${100*(1-t)}%`},t<.75?
"widths":"")),b("p",{},`Radius ${e}. `,r))}view(t,s){let{from:e,there:i}=this.record,r=e.logStd.map(Math.exp),n=Math.max(2.1,this.settings.radius+
.3),a=[0,1].map(l=>Math.max(n*r[l],i?Math.abs(i.mean[l]-e.mean[l])+2.1*Math.exp(i.logStd[l]):0)*1.12),h=Math.min(t/2/a[0],s/2/a[1]);return{unit:h,
X:l=>t/2+(l-e.mean[0])*h,Y:l=>s/2-(l-e.mean[1])*h,center:e.mean}}drawGround(t,s,e){if(!this.record)return;let{unit:i,center:r}=this.view(s,e),
n=L(),a=121,h=Math.round(120*e/s)+1,l=[s,e,i,G()].join();if(this.relief?.key!==l){let m=new Float64Array(2),g=new Float64Array(a*h);for(let v=0;v<
h;v++)for(let y=0;y<a;y++)m[0]=r[0]+(y/(a-1)-.5)*s/i,m[1]=r[1]-(v/(h-1)-.5)*e/i,g[v*a+y]=this.loss.both(m,null);let u=Math.min(...g),w=Math.
max(1e-9,Math.max(...g)-u);this.relief={key:l,columns:a,rows:h,share:g.map(v=>(v-u)/w)}}let{share:c}=this.relief,f=b("canvas",{width:a,height:h}),
p=f.getContext("2d"),d=p.createImageData(a,h);c.forEach((m,g)=>{for(let u=0;u<3;u++)d.data[4*g+u]=n.low[u]+(n.high[u]-n.low[u])*m;d.data[4*g+
3]=255}),p.putImageData(d,0,0),t.drawImage(f,0,0,s,e),t.strokeStyle=G()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let m=1;m<
14;m++)dt(t,ct(c,h,a,m/14),h,a,s,e);this.drawMarks(s,e)}drawMarks(t,s){let{X:e,Y:i,unit:r}=this.view(t,s),{from:n,g:a,there:h,worst:l}=this.
record,{radius:c}=this.settings,f=k("sabma"),p=k("vi"),d=k("sam"),m=L().truth,g=L().ink;this.svg.setAttribute("viewBox",`0 0 ${t} ${s}`),this.
svg.replaceChildren();let u=(E,P,C=this.svg)=>{let N=document.createElementNS(Ys,E);for(let[W,ft]of Object.entries(P))N.setAttribute(W,ft);return C.
append(N),N},w=E=>u("g",{"data-s":E}),v=(E,P,C,N,W)=>u("ellipse",{cx:e(P[0]),cy:i(P[1]),rx:C*r,ry:N*r,fill:"none",...W},E),y=[],x=[],M=(...E)=>y.
push(E),$=(E,P,C,N,W,ft,Ot,ls={})=>{let rt=Math.hypot(N,W),I=Math.min(11,.6*rt),[X,et]=rt?[N/rt,W/rt]:[0,0];for(let at=0;at<=12;at++)x.push(
[P+N*at/12,C+W*at/12]);u("line",{x1:P,y1:C,x2:P+N-X*I*.7,y2:C+W-et*I*.7,stroke:ft,"stroke-width":3.2,...ls},E),u("path",{d:`M${P+N},${C+W} L${P+
N-X*I-et*I*.55},${C+W-et*I+X*I*.55} L${P+N-X*I+et*I*.55},${C+W-et*I-X*I*.55} Z`,fill:ft},E),Ot&&M(E,P+N+9*X+(X<0?-14:2),C+W+14*et+5,Ot,ft)},
B=n.logStd.map(Math.exp),[T,z]=[e(n.mean[0]),i(n.mean[1])],yt=E=>this.phase>=E,Ie=Math.max(gt(a.mean),l?gt(l.mean):0,1e-9),Z=.3*Math.min(t,s)/
Ie;if(yt(2)){let E=w("ball");v(E,n.mean,c*B[0],c*B[1],{stroke:d,"stroke-width":2,"stroke-dasharray":"3 6"}),M(E,T+c*B[0]*r*.72+6,z+c*B[1]*r*
.72+12,"ball",d)}let zt=w("q");v(zt,n.mean,2*B[0],2*B[1],{stroke:g,"stroke-width":2.4,fill:g,"fill-opacity":.07});for(let E of this.noise)u(
"circle",{cx:e(n.mean[0]+B[0]*E[0]),cy:i(n.mean[1]+B[1]*E[1]),r:3.4,fill:g},zt);if(u("circle",{cx:T,cy:z,r:6,fill:g,stroke:L().paper,"stroke\
-width":1.5},zt),M(zt,T-2*B[0]*r*.72-20,z-2*B[1]*r*.72-6,"q",g),yt(3)&&h){let E=w("worst"),P=h.logStd.map(Math.exp),[C,N]=[e(h.mean[0]),i(h.
mean[1])];if(v(E,h.mean,2*P[0],2*P[1],{stroke:d,"stroke-width":2.4,fill:d,"fill-opacity":.08}),$(E,T,z,C-T,N-z,d,"Δ"),u("circle",{cx:C,cy:N,
r:5,fill:d,stroke:L().paper,"stroke-width":1.5},E),M(E,C-2*P[0]*r*.72-26,N+2*P[1]*r*.72+16,"q′",d),yt(5)){let W=w("diff");$(W,C,N,a.mean[0]*
Z,-a.mean[1]*Z,p,"",{"stroke-dasharray":"4 5"}),$(W,C+a.mean[0]*Z,N-a.mean[1]*Z,(l.mean[0]-a.mean[0])*Z,-(l.mean[1]-a.mean[1])*Z,m),M(W,C+(a.
mean[0]+l.mean[0])/2*Z-20,N-(a.mean[1]+l.mean[1])/2*Z-12,"g′ − g",m)}yt(4)&&$(w("there"),C,N,l.mean[0]*Z,-l.mean[1]*Z,f,"g′")}if(yt(1)&&
$(w("g"),T,z,a.mean[0]*Z,-a.mean[1]*Z,p,"g"),yt(6)){let E=w("move"),P=this.after.logStd.map(Math.exp);v(E,this.after.mean,2*P[0],2*P[1],{stroke:f,
"stroke-width":2.4,"stroke-dasharray":"7 4"}),$(E,T,z,e(this.plain.mean[0])-T,i(this.plain.mean[1])-z,p,"",{"stroke-width":2}),$(E,T,z,e(this.
after.mean[0])-T,i(this.after.mean[1])-z,f,"step")}let Is=[];for(let[E,P,C,N,W]of y){let ft=10*N.length,Ot=([I,X])=>[P+I,C+X-14,P+I+ft,C+X+4],
ls=I=>{let[X,et,at,cs]=Ot(I);return X>4&&at<t-4&&et>4&&cs<s-4&&!x.some(([Rt,Wt])=>Rt>X-4&&Rt<at+4&&Wt>et-4&&Wt<cs+4)&&!Is.some(([Rt,Wt,Oe,qe])=>X<
Oe&&at>Rt&&et<qe&&cs>Wt)},rt=[0,14,26,40,56].flatMap(I=>[[0,-I],[0,I],[I,0],[-I,0],[I,-I],[-I,-I],[I,I],[-I,I]]).find(ls)??[0,0];Is.push(Ot(
rt)),u("text",{x:P+rt[0],y:C+rt[1],fill:W},E).textContent=N}}drawProfile(t,s,e){if(!this.record)return;let i=L(),{from:r,delta:n,g:a,worst:h}=this.
record,l=k("sam");if(S(t,"loss along the ascent from q (0) to q′ (1)",2,10,{color:i.soft,size:12.5,halo:!1}),!n){S(t,"radius 0: no ascent",
s/2,e/2,{align:"center",halo:!1});return}let c=Array.from({length:41},(v,y)=>y/40*1.4),f=c.map(v=>nt(this.loss,{mean:_(r.mean,n.mean,v),logStd:_(
r.logStd,n.logStd,v)},this.noise).value),p=c.map(v=>a.value+v*this.slope),d=Math.min(...f,...p),m=Math.max(...f,...p),g=v=>8+(s-70)*v/1.4,u=v=>e-
22-(e-52)*(v-d)/Math.max(m-d,1e-9),w=(v,y,x)=>{t.beginPath(),v.forEach((M,$)=>t.lineTo(g(c[$]),u(M))),t.strokeStyle=y,t.lineWidth=2.2,t.setLineDash(
x),t.stroke(),t.setLineDash([])};w(p,k("vi"),[4,5]),w(f,i.ink,[]),S(t,"slope g",g(1.4)+6,u(p.at(-1)),{color:k("vi"),size:12.5}),S(t,"loss",g(
1.4)+6,Math.abs(u(f.at(-1))-u(p.at(-1)))<14?u(p.at(-1))+(u(f.at(-1))<u(p.at(-1))?-15:15):u(f.at(-1)),{size:12.5}),Q(t,"circle",g(0),u(a.value),
5,i.ink),S(t,A(a.value),g(0)+4,u(a.value)+14,{size:12.5}),!(this.phase<3)&&(Q(t,"circle",g(1),u(h.value),5,l),S(t,A(h.value),g(1)+4,u(h.value)+
14,{size:12.5,color:l}))}};function oi(o,t={},...s){let e=document.createElement(o);for(let[i,r]of Object.entries(t))e.setAttribute(i,r);return e.append(...s),e}var Vi=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function Hs(o,t){let s=oi("a",{href:o,download:t});document.body.append(s),s.click(),s.remove()}var q=[-3,3],tt=[-2,2],Qt=3,Dt={hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,
terms:[{kind:"dent",at:[-.7,0],depth:1.1,width:.28},{kind:"dent",at:[1.4,.1],depth:1,width:1.1},{kind:"bowl",at:[1,0],h:.06}],places:[["narr\
ow hollow",[-.7,0],.5],["wide meadow",[1.4,.1],1.4]],about:"Both start at the same place with the same noise. VI lowers the loss that it exp\
ects under q, its cloud of weights; SA-BMA looks for the worst cloud q′ within the radius first, and lowers the loss there. The hollow lies \
on the way to the meadow and is a little deeper: this ground was chosen because the difference is plainest here."},ravine:{label:"a bent rav\
ine",start:[-1.9,1.3],std:.25,T:.05,radius:1,rho:.3,rate:.05,top:3,terms:[{kind:"valley",k:5,a:.45,b:-1},{kind:"bowl",at:[1.6,.2],h:.3}],places:[
["end of the ravine",[1.6,.1],.7]],about:"The ravine leads every method the same way. The radius matters on the way: across the ravine steep\
 walls cut the ball short, and q stays narrow there."},ridge:{label:"a ridge between two valleys",start:[-.05,1.1],std:.25,T:.05,radius:1,rho:.3,
rate:.05,top:1.6,terms:[{kind:"dent",at:[0,0],depth:-1,width:[.35,2.5]},{kind:"bowl",at:[0,0],h:.16}],places:[["west valley",[-.8,0],.8],["e\
ast valley",[.8,0],.8]],about:"The two valleys mirror each other, and q starts on the ridge: noise decides. Press 20 seeds and count."},plateau:{
label:"a plateau with one hollow",start:[-1.3,.5],std:.35,T:.05,radius:1,rho:.5,rate:.2,top:.5,terms:[{kind:"dent",at:[1.1,0],depth:1,width:.55},
{kind:"bowl",at:[0,0],h:.03}],places:[["hollow",[1.1,0],.6],["plateau",[-1,0],.9]],about:"Where the loss is nearly flat its gradient is near\
ly zero, and the prior has the say: q widens until a draw meets the hollow."},modes:{label:"two modes: a counter-example",start:[-.5,0],std:.5,
T:.1,radius:2,rho:.5,rate:.05,top:6,terms:[{kind:"modes",a:[-1.6,0],b:[1.6,0],narrow:.3,ratio:3}],places:[["narrow mode",[-1.6,0],.55],["rid\
ge",[-.6,0],.45],["wide mode",[1.6,0],1.3]],about:"Flatter is not what a large radius always finds. Two modes of equal depth: VI and SA-BMA \
at radius 0.5 reach the wide one from here, at radius 2 most runs do not. The ascent carries q′ over the ridge into the other basin, and the\
 gradient there, the steeper one, holds q on the ridge. The arrows below the section show where each method moves the mean. Press 20 seeds."},
yours:{label:"yours: push it into shape",start:[-1.5,.6],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.2,terms:[{kind:"bowl",at:[.6,0],h:.1}],places:[],
about:"Press on the ground to push it down or up, then play."}},Xs=81,Ks=121;function Qs(o){let t=Ns(o),s=1/0;for(let e=0;e<Xs;e++)for(let i=0;i<
Ks;i++){let r=q[0]+(q[1]-q[0])*i/(Ks-1),n=tt[0]+(tt[1]-tt[0])*e/(Xs-1);s=Math.min(s,t.both([r,n],null))}return{dim:2,both:(e,i)=>t.both(e,i)-
s}}var Tt=[.01,.02,.05,.1,.2,.3,.5,1],ks=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],ri=12,ai=6;function U(o,{method:t,q:s,members:e}){return V[t]?Yt(o,s):
e.reduce((i,r)=>i+o.both(r,null),0)/e.length}var Js=(o,t,s={})=>({method:o,q:ht(t.q),members:t.members(40,[]),lost:!t.finite,...s});function Ms(o,t){
let s=!1,e=()=>{let i=performance.now()+ri;for(;!s&&o.length&&performance.now()<i;)o.shift()();s||(o.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var Jt=class{constructor(t,s,{T:e,radius:i},r){Object.assign(this,{loss:t,vi:[],sabma:[],ghost:null});let n=(h,l)=>()=>{let c=s(
h===this.vi?"vi":"sabma",l);c.lost||h.push({...c,...l,train:U(t,c)})},a=[...Tt.map(h=>n(this.vi,{T:h,radius:0})),...ks.map(h=>n(this.sabma,{
T:e,radius:h}))];this.stop=Ms(a,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===i),s),r()})}vi;sabma;ghost;loss;find(t,s){let e=t&&this.
vi.findIndex((n,a)=>a&&(n.train-t.train)*(this.vi[a-1].train-t.train)<=0);if(!(e>0))return null;let[i,r]=[this.vi[e-1],this.vi[e]];for(let n=0;n<
ai;n++){let a=Math.sqrt(i.T*r.T),h=s("vi",{T:a,radius:0}),l={...h,T:a,train:U(this.loss,h)};(l.train-t.train)*(i.train-t.train)<=0?r=l:i=l}return[
i,r].reduce((n,a)=>Math.abs(a.train-t.train)<Math.abs(n.train-t.train)?a:n)}draw(t,s,e,i,{T:r,radius:n}){let a=L(),h=[["vi",this.vi,u=>u.T===
r,"T"],["sabma",this.sabma,u=>u.radius===n,"radius"]];S(t,"training loss → against test loss ↑, each after a whole run",2,10,{color:a.soft,
size:12.5,halo:!1});let l=u=>[u.train,U(i,u)],c=[...this.vi,...this.sabma].map(l);if(!c.length)return;let f=u=>{let w=c.map(M=>M[u]),v=Math.
min(...w),y=Math.max(...w),x=Math.max(.08*(y-v),.02);return[v-x,y+x]},[p,d]=[f(0),f(1)],m=u=>44+(s-70)*(u-p[0])/(p[1]-p[0]),g=u=>e-24-(e-58)*
(u-d[0])/(d[1]-d[0]);t.strokeStyle=a.line,t.beginPath(),t.moveTo(44,30),t.lineTo(44,e-20),t.lineTo(s-4,e-20),t.stroke(),p.forEach((u,w)=>S(t,
A(u),m(u),e-9,{color:a.soft,size:12,align:w?"right":"left"}));for(let u of d)S(t,A(u),40,g(u),{color:a.soft,size:12,align:"right"});for(let[
u,w,v,y]of h){let x=k(u);t.strokeStyle=t.fillStyle=x,t.lineWidth=1.6,t.beginPath();for(let $ of w)t.lineTo(m(l($)[0]),g(l($)[1]));t.stroke();
for(let $ of w){let[B,T]=l($);t.beginPath(),t.arc(m(B),g(T),2.6,0,7),t.fill()}for(let $ of w.filter(v)){let[B,T]=l($);Q(t,O(u)[3],m(B),g(T),
6,x)}let M=w.at(-1);if(M){let[$,B]=l(M);S(t,`${O(u)[0]}, larger ${y}`,Math.min(m($)+8,s-4),g(B)+(g(B)>e/2?14:-12),{color:x,size:12,align:m($)>
s/2?"right":"left"})}}if(this.ghost){let[u,w]=l(this.ghost);t.strokeStyle=k("vi"),t.setLineDash([2,3]),t.lineWidth=2,t.beginPath(),t.arc(m(u),
g(w),10,0,7),t.stroke(),t.setLineDash([]),S(t,`T* = ${A(this.ghost.T)}`,m(u)+14,g(w)+4,{color:k("vi"),size:12})}}};function Zs(o,t,s,e){let i=L(),
r=e.flatMap(({values:p})=>p).filter(Number.isFinite),n=Math.min(...r),a=Math.max(...r,n+.05),h=Math.max(12,Math.round(t/22)),l=p=>4+p*(t-8)/
h,c=(s-44)/e.length,f=(t-8)/h-2;S(o,`test loss of ${e[0].values.length} seeds, a block each`,2,10,{color:i.soft,size:12.5,halo:!1}),e.forEach(
({method:p,values:d,where:m},g)=>{let u=new Array(h).fill(0),w=26+(g+1)*c;d.filter(Number.isFinite).forEach(y=>{u[Math.min(h-1,Math.floor((y-
n)/(a-n)*h))]+=1});let v=Math.min(9,(c-18)/Math.max(...u,1));o.fillStyle=k(p),u.forEach((y,x)=>{for(let M=0;M<y;M++)o.fillRect(l(x),w-(M+1)*
v,f,v-1)}),S(o,`${O(p)[0]}: ${m}`,t-4,w-c+10,{color:k(p),size:12,align:"right"}),o.fillStyle=i.line,o.fillRect(4,w,t-8,1)}),[n,a].forEach((p,d)=>S(
o,A(p),d?t-4:4,s-8,{color:i.soft,size:12,align:d?"right":"left"}))}var st=600,te=6,mt=20,Ts=.3,se=["radius","rho","T","viT","rate","draws"],Ss=class{constructor(t){this.learner=t,this.trail=[[...t.q.mean]],this.
x=[],this.stands=[],this.train=[],this.test=[],this.lambda=[],this.kl=[],this.lost=!1}},Zt=class{seed=1;ensemble=10;steps=0;on=new Set(["vi",
"sabma"]);shadows=[];ends=[];shift=[Ts,0];bend=0;tally="";sweep=null;runs=new Map;constructor(t=()=>{}){this.changed=t;let s=new ot(99);this.
noise=Array.from({length:30},()=>s.normals(2)),this.choose("hollow")}choose(t){this.name=t,this.world=Dt[t],this.terms=this.world.terms.map(
n=>({...n}));let{radius:s,rho:e,T:i,rate:r}=this.world;this.settings={radius:s,rho:e,T:i,viT:i,rate:r,draws:4},this.start=[...this.world.start],
this.shadows=[],this.reground(),this.rest(!1)}reground(){this.loss=Qs(this.terms),this.retest()}retest(){this.test=Ps(this.loss,this.shift,this.
bend)}get far(){return Math.hypot(...this.shift)}along(t){return this.far?this.shift.map(s=>s/this.far*t):[t,0]}moveTest(t,s=this.bend){this.
shift=t.map(e=>Math.max(-1,Math.min(1,e))),this.bend=s,this.retest();for(let[e,i]of this.runs)i.test=i.stands.map(r=>U(this.test,{method:e,...r}))}learner(t,s,e={}){
let{radius:i,rho:r,T:n,viT:a,rate:h,draws:l}={...this.settings,...e},p={T:t==="vi"?e.T??a:n,rate:h,momentum:0,draws:l,radius:t==="sam"?r:i},
d=Math.log(this.world.std),m=Math.log(Qt),g={mean:Float64Array.of(0,0),logStd:Float64Array.of(m,m)},u={mean:Float64Array.from(this.start),logStd:Float64Array.
of(d,d)};return new kt(t,this.loss,g,u,p,s)}rest(t=!0){if(t&&this.steps>60)for(let[s,e]of this.runs)this.shadow(s,e);this.steps=0,this.giveUp?.(),
this.sweep?.stop(),this.sweep=null,this.ends=[],this.tally="",this.runs=new Map;for(let s of Pt)this.on.has(s)&&this.runs.set(s,new Ss(this.
learner(s,this.seed)));this.measure()}shadow(t,s){this.shadows.push([t,s.trail]),this.shadows.length>80&&this.shadows.shift()}advance(t){for(let s=0;s<
t&&this.steps<st;s++){this.steps+=1;for(let[e,i]of this.runs)i.lost||e==="hmc"&&this.steps%te||(i.learner.step(),i.lost=!i.learner.finite,i.
lost||i.trail.push([...i.learner.q.mean]));this.steps%4===0&&this.measure()}}get over(){return this.steps>=st}measure(){for(let[t,s]of this.
runs){if(s.lost)continue;let{q:e,prior:i,kept:r}=s.learner,a=lt[t]&&r.length?r.slice(-this.ensemble):[e.mean.slice()],h={q:{mean:e.mean.slice(),
logStd:e.logStd.slice()},members:a};s.x.push(this.steps),s.stands.push(h),s.train.push(U(this.loss,{method:t,...h})),s.test.push(U(this.test,
{method:t,...h})),s.lambda.push(Mt(this.loss,e.mean,1)[0].value),s.kl.push(V[t]?Nt(e,i).value:NaN)}}whole(t,s,e={}){let i=this.learner(t,s,e),
r=t==="hmc"?st/te:st;for(let n=0;n<r&&i.finite;n++)i.step();return Js(t,i)}many(t,s,e=[{}]){this.giveUp?.(),this.shadows=[],this.ends=[],this.
tally=`${mt} seeds run …`;let i=[],r=e.flatMap(n=>t.flatMap(a=>Array.from({length:mt},(h,l)=>()=>{i.push({...this.whole(a,l+1,n),...n})})));
this.giveUp=Ms(r,()=>{this.ends=i,this.tally=s(i),this.changed()})}compareT(){if(this.sweep||!this.on.has("vi")||!this.on.has("sabma"))return;
let{viT:t,radius:s}=this.settings,e=(i,r)=>this.whole(i,this.seed,i==="vi"?r:{radius:r.radius});this.sweep=new Jt(this.loss,e,{T:t,radius:s},
this.changed)}placeOf(t){let{places:s}=this.world;return s.find(([,[e,i],r])=>Math.hypot(t[0]-e,t[1]-i)<r)?.[0]}whereIs(t){let s=this.placeOf(
t),e=Float64Array.from(t),i=new Float64Array(2);if(s?.endsWith("ridge"))return`on the ${s}`;for(let n=0;n<80;n++)this.loss.both(e,i.fill(0)),
e[0]-=.05*i[0],e[1]-=.05*i[1];let r=this.placeOf(e);return r?`in the ${r===s?"":"basin of the "}${r}`:""}counted(t){let s=new Map;for(let e of t){
let i=e.lost?"diverged":this.placeOf(e.q.mean)??"elsewhere";s.set(i,(s.get(i)??0)+1)}return[...s].sort((e,i)=>i[1]-e[1])}lossAt(t,s){let e=this.
ends.filter(r=>r.method===s&&!r.lost);if(e.length)return e.reduce((r,n)=>r+U(t,n),0)/e.length;let i=this.runs.get(s);return!i||i.lost?NaN:U(
t,{method:s,...i.stands.at(-1)})}ranking(t){return[...this.runs.keys()].map(s=>({method:s,loss:this.lossAt(t,s)})).filter(({loss:s})=>Number.
isFinite(s)).sort((s,e)=>s.loss-e.loss)}get query(){let{name:t,on:s,seed:e,shift:i,bend:r,settings:n}=this,a=Object.fromEntries(se.map(h=>[h,
String(n[h])]));return new URLSearchParams({ground:String(t),on:[...s].join(),...a,seed:String(e),shift:i.map(h=>Number(h.toFixed(2))).join(),
bend:String(r)})}read(t,s){let e=h=>t.has(h)?Number(t.get(h)):NaN,i=t.get("ground")??"";Object.hasOwn(Dt,i)&&this.choose(i);let r=(t.get("on")??
"").split(",").filter(h=>Pt.includes(h));r.length&&(this.on=new Set(r));for(let h of se)s[h].includes(e(h))&&(this.settings[h]=e(h));Number.
isInteger(e("seed"))&&(this.seed=e("seed"));let n=(t.get("shift")??"").split(",").map(Number),a=t.has("shift")&&n.length===2&&n.every(Number.
isFinite);this.moveTest(a?n:this.shift,s.bend.includes(e("bend"))?e("bend"):0),this.rest(!1)}};var At=.4,$t=.02,wt=o=>O(o)[0],As=(o,t)=>t.loss-o.loss<$t?`${wt(o.method)} and ${wt(t.method)} are even`:`${wt(o.method)} wins by ${(t.loss-
o.loss).toFixed(2)}`;function ts(o){let[t,s]=o.ranking(o.test);if(!t)return"";if(!s)return`Test loss of ${wt(t.method)}: ${t.loss.toFixed(2)}\
.`;let[e,i]=o.ranking(o.loss);return o.far+o.bend?`${o.over||o.ends.length?"On":"So far, on"} the test ground ${As(t,s)}; not shifted, ${As(
e,i)}.`:`Not shifted, ${As(t,s)}.`}function ni(o){let t=o.sweep?.ghost;if(!t)return"";let{viT:s,radius:e}=o.settings,i=o.sweep.sabma.find(a=>a.
radius===e),r=U(o.test,t)-U(o.test,i),n=`${Math.abs(r).toFixed(2)} ${r>0?"higher":"lower"}`;return`At T* = ${A(t.T)} instead of ${s}, VI has\
 SA-BMA's training loss, and its test loss is ${Math.abs(r)<$t?"the same":n}.`}function ee(o){if(!o.steps)return"Not trained yet.";let t=[...o.
runs].filter(([,{lost:i}])=>!i).map(([i,{learner:r}])=>({name:wt(i),where:o.whereIs(r.q.mean),cost:Ds(o.loss,r.q.mean,At)-o.loss.both(r.q.mean,
null)})),s=t.map(({name:i,cost:r})=>`${i} ${r.toFixed(2)}`).join(", "),e=[t.map(({name:i,where:r})=>r&&`${i} is ${r}`).filter(Boolean).join(
", ")+".",ts(o),`Moving the mean by ${At} the worst way raises the loss by: ${s}.`,o.over?ni(o):""];for(let[i,{lost:r}]of o.runs)r&&e.push(`${wt(
i)} diverged: lower the learning rate or the radius.`);return e.filter(i=>i&&i!==".").join(" ")}var $s=(o,t)=>o.counted(t).map(([s,e])=>`${e}\
 ${s}`).join(", ");function ie(o){let t=e=>`${wt(e)}: ${$s(o,o.ends.filter(i=>i.method===e))}`,s=[...o.on].map(t).join("; ");return`${mt} se\
eds of ${st} steps. ${s}. ${ts(o)}`}var oe=25,re=240,ae=17,ne=[-1.2816,-.5244,0,.5244,1.2816],he=ne.flatMap(o=>ne.map(t=>Float64Array.of(o,t)));function hi({loss:o},t,{q:s,prior:e,
settings:i},r){let n=q[1]-q[0];return Array.from({length:oe},(a,h)=>{let l=q[0]+n*h/(oe-1),c={mean:Float64Array.of(l,r),logStd:s.logStd};if(!V[t]){
let m=t==="sam"?i.radius:0,g={...i,rate:1,radius:m};return[l,-us(o,c.mean.slice(),new Float64Array(2),e,g).there[0]]}let f=nt(o,c,he),d=t===
"sabma"&&i.radius?nt(o,fs(c,f,i.radius).there,he):f;return[l,-d.mean[0]-i.T*Nt(c,e).mean[0]]})}function le(o,t,s,e){let i=L(),r=o.runs.get("\
sabma")??o.runs.values().next().value;if(!r)return;let n=r.learner.q.mean[1],a=[...o.runs.keys()].filter(p=>!lt[p]),h=e-ae*a.length-8,l=1.4*
o.world.top,c=p=>(p-q[0])/(q[1]-q[0])*s,f=p=>h-(h-40)*Math.min(1,(p+.07*l)/l);t.beginPath(),t.moveTo(0,h);for(let p=0;p<=re;p++){let d=q[0]+
(q[1]-q[0])*p/re;t.lineTo(c(d),f(o.loss.both([d,n],null)))}t.lineTo(s,h),t.fillStyle=`rgb(${i.high.join()})`,t.globalAlpha=.75,t.fill(),t.globalAlpha=
1,t.lineWidth=1.5,t.strokeStyle=i.soft,t.stroke(),S(t,"loss along w₁, cut through the mean",2,10,{color:i.soft,halo:!1}),S(t,"arrows: wher\
e a step moves the mean",2,26,{color:i.soft});for(let[p,{learner:d}]of o.runs){let{q:m}=d,g=k(p),u=c(m.mean[0]),w=f(o.loss.both([m.mean[0],n],
null));if(V[p]){let v=Math.exp(m.logStd[0]),y=f(Yt(o.loss,m));t.strokeStyle=g,t.lineWidth=3,t.beginPath(),t.moveTo(c(m.mean[0]-2*v),y),t.lineTo(
c(m.mean[0]+2*v),y),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(u,y),t.lineTo(u,w),t.stroke()}Q(t,O(p)[3],u,w,4.5,g)}a.forEach((p,d)=>{
let m=h+14+ae*d;t.fillStyle=k(p);for(let[g,u]of hi(o,p,o.runs.get(p)?.learner,n)){let w=4*Math.tanh(Math.abs(u)*4)+1,v=Math.sign(u)*w;t.beginPath(),
t.moveTo(c(g)+v,m),t.lineTo(c(g)-v,m-w),t.lineTo(c(g)-v,m+w),t.fill()}})}function ce(o,t,s,e){let i=[["loss: training thin, test thick","tes\
t",.46],["λ₁, sharpest curvature at the mean","lambda",.27],["KL(q ‖ prior), in nats","kl",.27]],r=0;for(let[n,a,h]of i){let c=[...o.runs].
flatMap(([f,p])=>{let d={color:k(f),x:p.x,y:p[a]};return a==="test"?[{...d,y:p.train,thin:!0},d]:[d]}).filter(f=>f.y.some(Number.isFinite));
Xt(t,0,r,s,h*e-6,n,c,{most:st}),r+=h*e}}function de(o,t,s,e){if(o.ends.length){let r=[...new Set(o.ends.map(n=>n.method))].map(n=>{let a=o.ends.
filter(l=>l.method===n),h=a.map(l=>l.lost?NaN:U(o.test,l));return{method:n,where:$s(o,a),values:h}});Zs(t,s,e,r)}else if(o.sweep){let{viT:i,
radius:r}=o.settings;o.sweep.draw(t,s,e,o.test,{T:i,radius:r})}else S(t,"after a run: temperature beside radius",2,10,{color:L().soft,halo:!1})}var li=.3,pt=1,bt=32,Es=.5,ci=Object.freeze({vi:"VI",sabma:"SA-BMA"}),pe=o=>O(o)[0],fe=[["yes","Yes"],["no","No"]];function ge(o){let[t,s]=o.
ranking(o.test),e=s.loss-t.loss<$t;return{first:t,second:s,winner:e?"even":t.method}}function ue(o){return{...Tt.map(e=>({T:e,loss:U(o.test,
o.whole("vi",o.seed,{T:e}))})).reduce((e,i)=>i.loss<e.loss?i:e),rival:U(o.test,o.whole("sabma",o.seed))}}var ss=(o,t,s,e="")=>t.filter(i=>i.
draws===s&&o.placeOf(i.q.mean)===e).length;function me(o,t){let s=[pt,bt].map(i=>ss(o,t,i,"narrow hollow")),e=[pt,bt].map(i=>ss(o,t,i,"wide \
meadow"));return`Radius ${Es}: with ${pt} draw a step (filled) ${e[0]} of ${mt} runs end in the meadow and ${s[0]} in the hollow; with ${bt}\
 (rings) ${e[1]} and ${s[1]}. `}var Et=[{key:"shift",title:"Shift",view:"grounds",ask:"VI moves a cloud of weights to where its average loss\
 is low, SA-BMA to where the worst cloud within the radius has a low loss. Both train on one ground and are tested on another, moved by 0.3.\
 Which has the lower test loss?",guesses:[...Object.entries(ci),["even","Even"]],set:{},then:{},truth:o=>ge(o).winner,answer(o){let{first:t,
second:s,winner:e}=ge(o),i=[...o.runs].map(([a,{learner:h}])=>`${pe(a)} is ${o.whereIs(h.q.mean)}`),r=`${t.loss.toFixed(2)} to ${s.loss.toFixed(
2)}`;return`${e==="even"?"They are even":`${pe(t.method)} wins`}: ${r}. ${i.join(", ")}. With a shift of 0?`}},{key:"temperature",title:"Tem\
perature",view:"grounds",ask:"The temperature T weighs the pull to the prior: the larger T, the wider VI's cloud. Up to now both had T = 0.1\
. Is there a T at which VI has SA-BMA's test loss?",guesses:fe,set:{},then:{viT:li},truth:o=>{let{loss:t,rival:s}=ue(o);return t-s<$t?"yes":
"no"},answer(o){let{T:t,loss:s,rival:e}=ue(o),i=o.runs.get("vi"),r=i?o.whereIs(i.learner.q.mean):"",n=s-e<$t?"as low as":"above";return`At T\
 = ${o.settings.viT} VI is ${r} too. Its lowest test loss over the slider, ${s.toFixed(2)} at T = ${t}, is ${n} SA-BMA's ${e.toFixed(2)}. Bu\
t this ground was made so that the difference is plain.`}},{key:"network",title:"A trained network",view:"frontier",ask:"A network pre-train\
ed on rotated digits, two labels a class, 40 seeds. At the same temperature SA-BMA (radius 1) is flatter than VI. Is there a T at which VI h\
as both its training loss and its curvature λ₁?",guesses:fe,set:{},then:{},truth:()=>"yes",answer:()=>"Nearly: VI along its temperature (\
blue) passes through almost the places of SA-BMA along its radius (green). At equal training loss λ₁ is 0.96 of VI's and the NLL 0.007 lower\
. Most of what the radius does here, a lower temperature does."},{key:"draws",title:"Draws",view:"grounds",ask:`A step averages gradients ov\
er S draws from the cloud. The ascent to the worst cloud follows their noise as well. At radius ${Es}: with which S does SA-BMA stay out of \
the hollow more often?`,guesses:[["one",`S = ${pt}`],["many",`S = ${bt}`],["even","As often"]],on:["sabma"],set:{radius:Es,draws:pt},then:{},
seeds:[{draws:pt},{draws:bt}],tell:me,counts:o=>[pt,bt].map(t=>({name:`S = ${t}`,value:o.ends.length?`${ss(o,o.ends,t,"wide meadow")} of ${mt}`:
"–"})),truth:o=>{let[t,s]=[pt,bt].map(e=>ss(o,o.ends,e,"narrow hollow"));return t<s?"one":t>s?"many":"even"},answer:o=>me(o,o.ends)+"Few d\
raws widen the cloud as a higher temperature does; with many, SA-BMA falls into the hollow as VI does."}],we=(o,t)=>o.view==="frontier"||("s\
eeds"in o?t.ends.length>0:t.steps>=st);var xt={task:"digits-near",seeds:40,T:.03,vi:[[.006,.013308,1.0158,.58418,.042675],[.01,.022048,1.3511,.56598,.035909],[.015,.032973,1.6514,
.5554,.03367],[.02,.043971,1.8783,.55011,.036256],[.03,.065808,2.1927,.54699,.04311],[.05,.10942,2.5763,.55254,.062964],[.075,.16348,2.8693,
.56774,.088486],[.1,.21667,3.0677,.58631,.11308]],sabma:[[0,.065808,2.1927,.54699,.04311],[.5,.055361,2.0196,.54416,.03901],[1,.046795,1.8443,
.54244,.036838],[2,.034217,1.5546,.54231,.033359]]};var di=[0,17,-17,34,-34,51,-51,68],pi=(o,t)=>o[0]<t[2]&&o[2]>t[0]&&o[1]<t[3]&&o[3]>t[1];function fi(o,t,s,e){let i=([r,n,a,h])=>r>=2&&n>=2&&
a<=s-2&&h<=e-2;return o.find(r=>i(r)&&!t.some(n=>pi(r,n)))??o[0]}var Lt=class{taken=[];constructor(t,s,e){this.pen=t,this.width=s,this.height=
e}avoid(t,s,e=7){this.taken.push([t-e,s-e,t+e,s+e])}put(t,s,e,i={}){let{size:r=13,weight:n=400,align:a="left"}=i;this.pen.font=`${n} ${r}px \
system-ui, -apple-system, "Segoe UI", Arial, sans-serif`;let h=this.pen.measureText(t).width,l={left:s,center:s-h/2,right:s-h}[String(a)]??s,
c=Math.max(4,Math.min(this.width-h-4,l)),f=di.map(d=>[c,e+d-8,c+h,e+d+8]),p=fi(f,this.taken,this.width,this.height);this.taken.push(p),S(this.
pen,t,p[0],p[1]+8,{...i,align:"left"})}};var gi=[{title:"curvature λ₁",at:2,ticks:[1,1.5,2,2.5,3]},{title:"NLL on test digits",at:3,ticks:[.54,.55,.56,.57,.58]},{title:"ECE on te\
st digits",at:4,ticks:[.04,.06,.08,.1]}],ui=[.02,.05,.1,.2],mi=2*Math.PI,xe={T:xt.vi.map(([o])=>o),radius:xt.sabma.map(([o])=>o)},It=(o,t)=>xt[o].
find(([s])=>s===t)??xt[o][0],be=(o,t=!1)=>{let s=n=>t?Math.log(n):n,e=Math.min(...o.map(s)),i=Math.max(...o.map(s)),r=.09*(i-e);return n=>(s(
n)-e+r)/(i-e+2*r)},es=class{T=xt.T;radius=1;open=!1;constructor(){this.board=new H((t,s,e)=>this.draw(t,s,e),{ratio:.36,label:"",least:300}),
this.node=this.board.node}show(t){Object.assign(this,t),this.board.draw(),this.board.say(this.sentence())}sentence(){let t=([,,s,e])=>`λ₁ ${s.
toFixed(2)}, NLL ${e.toFixed(3)}`;return`SA-BMA at radius ${this.radius}: ${t(It("sabma",this.radius))}. VI at T = ${this.T}: ${t(It("vi",this.
T))}.`}draw(t,s,e){let i=gi.slice(0,s<520?1:s<800?2:3),r=s/i.length;i.forEach((n,a)=>this.drawPanel(t,n,a*r,r,e))}drawPanel(t,s,e,i,r){let n=L(),
{vi:a,sabma:h}=xt,l=[...a,...h],c=be(l.map(T=>T[1]),!0),f=be(l.map(T=>T[s.at])),[p,d,m,g]=[e+40,e+i-14,34,r-42],u=T=>p+(d-p)*c(T[1]),w=T=>g-
(g-m)*f(T[s.at]),v=new Lt(t,e+i,g);for(let T of s.ticks){let z=g-(g-m)*f(T);z<m||z>g||(t.lineWidth=1,t.strokeStyle=n.line,t.beginPath(),t.moveTo(
p,z),t.lineTo(d,z),t.stroke(),S(t,String(T),p-6,z,{color:n.soft,size:12,align:"right"}))}for(let T of ui){let z=p+(d-p)*c(T);z<p||S(t,String(
T),z,g+14,{color:n.soft,size:12,align:"center"})}S(t,s.title,p,14,{weight:600,size:14,halo:!1}),S(t,"training loss (nats)",(p+d)/2,g+31,{color:n.
soft,size:12.5,align:"center"}),this.open&&this.line(t,a,u,w,"vi",v),this.line(t,h,u,w,"sabma",v);let[x,M]=[It("vi",this.T),It("sabma",this.
radius)];Q(t,"square",u(x),w(x),7,k("vi")),Q(t,"circle",u(M),w(M),7,k("sabma"));let $={weight:700,size:14};v.put(`SA-BMA, radius ${this.radius}`,
u(M)+12,w(M)+20,{...$,color:k("sabma")});let B={...$,color:k("vi"),align:"right"};if(v.put(`VI, T = ${this.T}`,u(x)-10,w(x)-20,B),!!this.open)
for(let T of[a[0],a[a.length-1]])T[0]!==this.T&&v.put(`T = ${T[0]}`,u(T),w(T)-18,{color:k("vi"),align:"center"})}line(t,s,e,i,r,n){t.strokeStyle=
t.fillStyle=k(r),t.lineWidth=r==="vi"?2:3.2,t.setLineDash(r==="vi"?[7,5]:[]),t.beginPath();for(let a of s)t.lineTo(e(a),i(a));t.stroke(),t.setLineDash(
[]),s.forEach((a,h)=>{t.beginPath(),t.arc(e(a),i(a),3,0,mi),t.fill();let l=s[Math.max(0,h-1)];for(let c of[.25,.5,.75,1])n.avoid(e(l)+c*(e(a)-
e(l)),i(l)+c*(i(a)-i(l)),4)})}get numbers(){return[{method:"vi",row:It("vi",this.T)},{method:"sabma",row:It("sabma",this.radius)}].map(({method:t,
row:s})=>({method:t,nll:A(s[3]),lambda:A(s[2])}))}};var D=181,J=121;function jt(o,t){let s=o.getBoundingClientRect();return[q[0]+(t.clientX-s.left)/s.width*(q[1]-q[0]),tt[1]-(t.clientY-s.top)/
s.height*(tt[1]-tt[0])]}var is=class{loss;top;relief;density;constructor(t){this.board=new H((s,e,i)=>{if(!this.loss)return;let r=this.relief,
n=e/6;(!r||r.width!==e||r.height!==i||r.dark!==G())&&this.paintRelief(e,i),s.drawImage(this.relief.whole,0,0,e,i),t(s,a=>(a-q[0])*n,a=>(tt[1]-
a)*n,n,i)},{ratio:2/3,label:""})}lay(t,s){this.loss=t,this.top=s,this.relief=null,this.density=null}heights(){let t=new Float64Array(J*D),s=new Float64Array(
2);for(let e=0;e<J;e++)for(let i=0;i<D;i++)s[0]=q[0]+i/(D-1)*6,s[1]=tt[1]-e/(J-1)*4,t[e*D+i]=this.loss.both(s,null);return t}paintRelief(t,s){
let[e,i,r]=G()?[.45,.6,4]:[.22,.14,1.7],n=this.heights(),a=L(),h=Math.min(...n),l=n.map(u=>{let w=(u-h)/this.top;return w<1?.75*w:1-.25/w}),
c=b("canvas",{width:D,height:J}),f=c.getContext("2d"),p=f.createImageData(D,J);for(let u=0;u<J;u++)for(let w=0;w<D;w++){let v=u*D+w,y=l[u*D+
Math.min(D-1,w+1)]-l[u*D+Math.max(0,w-1)],x=l[Math.min(J-1,u+1)*D+w]-l[Math.max(0,u-1)*D+w],M=Math.max(-e,Math.min(i,r*(-y-x)));for(let $=0;$<
3;$++)p.data[4*v+$]=(a.low[$]+(a.high[$]-a.low[$])*l[v])*(1+M);p.data[4*v+3]=255}f.putImageData(p,0,0);let{dense:d}=this.board,m=b("canvas",
{width:t*d,height:s*d}),g=m.getContext("2d");g.imageSmoothingQuality="high",g.drawImage(c,0,0,t*d,s*d),g.scale(t*d/(D-1),s*d/(J-1)),g.strokeStyle=
G()?"rgba(190,225,235,.28)":"rgba(60,70,80,.2)";for(let u=1;u<=14;u++)g.lineWidth=(D-1)/t*(u%4?.8:1.4),dt(g,ct(l,J,D,u/15),J,D,D-1,J-1);this.
relief={whole:m,width:t,height:s,dark:G()}}drawMass(t,s,e,i,r){this.density??=this.massOf(i,r),t.strokeStyle=L().truth,this.density.forEach(
(n,a)=>{t.lineWidth=a?1.4:2.4,dt(t,n,J,D,s,e)})}massOf(t,s){let e=this.heights(),i=Math.min(...e),r=e.map((l,c)=>{let f=q[0]+c%D/(D-1)*6,p=tt[1]-
Math.floor(c/D)/(J-1)*4;return Math.exp(-(l-i)/t-.5*(f*f+p*p)/s**2)}),n=Array.from(r).sort((l,c)=>c-l),a=n.reduce((l,c)=>l+c,0);return[.5,.95].
map(l=>{let c=0;return n.find(f=>(c+=f)>=l*a)}).map(l=>ct(r,J,D,l))}};var wi=44,ve=.1,bi={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]},vt={width:.32,reach:.16,first:.1,more:.06,most:1.5},
ye=(o,[t,s])=>Math.max(t+ve,Math.min(s-ve,o)),ke=o=>t=>{let s=bi[t.key];s&&(t.preventDefault(),o(s))};function Me(o){let{canvas:t}=o.training.
board,{model:s}=o,e=!1,i=a=>{let[h,l]=jt(t,a),c=o.training.board.width/(q[1]-q[0]),f=[...s.runs.values()].map(p=>p.learner.q.mean);return[s.
start,...f].some(([p,d])=>Math.hypot(h-p,l-d)*c<wi)},r=a=>{let h=jt(t,a);o.tool==="start"?s.start=[ye(h[0],q),ye(h[1],tt)]:(xi(s,h,o.tool===
"down"?1:-1),o.training.lay(s.loss,s.world.top),o.testing.lay(s.test,s.world.top)),s.rest(!1),o.shown()},n=a=>o.tool==="start"&&!i(a);t.addEventListener(
"touchstart",a=>{n(a.touches[0])||a.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",a=>{a.pointerType==="touch"&&n(a)||(e=!0,
t.setPointerCapture(a.pointerId),o.play(!1),r(a))}),t.addEventListener("pointermove",a=>{e&&r(a)});for(let a of["pointerup","pointercancel"])
t.addEventListener(a,()=>{e&&(e=!1,o.again(!1))})}function Se(o){let{canvas:t}=o.testing.board,s=null;t.addEventListener("pointerdown",e=>{s=
jt(t,e).map((i,r)=>i-o.model.shift[r]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermove",e=>{s&&o.moveTest(jt(t,e).map((i,r)=>i-
s[r]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}function xi(o,[t,s],e){let i=o.terms.find(r=>r.width===
vt.width&&Math.hypot(r.at[0]-t,r.at[1]-s)<vt.reach);i?i.depth=Math.max(-vt.most,Math.min(vt.most,i.depth+vt.more*e)):o.terms.push({kind:"den\
t",at:[t,s],depth:vt.first*e,width:vt.width}),o.reground()}var Bt=2*Math.PI,os=class{constructor(t,s,e,i,r){this.pen=t,this.X=s,this.Y=e,this.unit=i,this.width=i*(q[1]-q[0]),this.height=r,this.labels=
new Lt(t,this.width,r)}title(t){this.labels.put(t,10,16,{weight:700,size:14})}outline({mean:t,logStd:s},e=[0]){let{pen:i,unit:r}=this,[n,a]=[
0,1].map(h=>2*Math.exp(s[h])*r);i.setLineDash(e.length>1?e:[]),i.beginPath(),i.ellipse(this.X(t[0]),this.Y(t[1]),n,a,0,0,Bt),i.stroke(),i.setLineDash(
[])}cloud(t){let{pen:s}=this;s.lineWidth=2,this.outline(t),s.globalAlpha=.16,s.fill(),s.globalAlpha=1}dot(t,s,e=2.4){this.pen.beginPath(),this.
pen.arc(this.X(t),this.Y(s),e,0,Bt),this.pen.fill()}line(t,s){let{pen:e,X:i,Y:r}=this;e.beginPath(),e.moveTo(i(t[0]),r(t[1])),e.lineTo(i(s[0]),
r(s[1])),e.stroke()}trail(t,s,e){let{pen:i,X:r,Y:n}=this;i.globalAlpha=e,i.strokeStyle=i.fillStyle=s,i.lineWidth=1.6,i.beginPath();for(let[l,
c]of t)i.lineTo(r(l),n(c));i.stroke();let[a,h]=t[t.length-1];i.globalAlpha=Math.min(1,2*e),this.dot(a,h,3),i.globalAlpha=1}ends(t){let{pen:s,
X:e,Y:i}=this;s.globalAlpha=.6;for(let{method:r,q:n,lost:a,draws:h}of t.ends){if(a)continue;let[l,c]=[e(n.mean[0]),i(n.mean[1])];h&&h>1?this.
ring(l,c,k(r)):Q(s,O(r)[3],l,c,4.5,k(r))}return s.globalAlpha=1,t.ends.length>0}ring(t,s,e){let{pen:i}=this;i.strokeStyle=e,i.lineWidth=2,i.
beginPath(),i.arc(t,s,5,0,Bt),i.stroke()}places(t,s=[0,0]){for(let[e,i,r]of t.world.places){let n=Math.min(this.height-14,this.Y(i[1]+s[1]-r)+
6);this.labels.put(e,this.X(i[0]+s[0]),n,{color:L().soft,align:"center"})}}means(t,s){let e=[...t.runs].filter(([,r])=>!r.lost),i=([,r])=>[this.
X(r.learner.q.mean[0]),this.Y(r.learner.q.mean[1])];for(let r of e){let[n,a]=i(r);this.labels.avoid(n,a)}if(!(e.length>3))for(let[r,n]of e){
let[a,h]=i([r,n]),l={color:k(r),weight:700,size:14};this.labels.put(s(r,n),a+12,h-17,l)}}run(t,s,{learner:e,trail:i}){let{pen:r}=this,n=k(s),
{q:a,last:h}=e;if(lt[s]?(this.trail(i.slice(-160),n,s==="hmc"?.08:.3),h?.path&&this.trail(h.path,n,.4)):this.trail(i,n,.75),r.fillStyle=r.strokeStyle=
n,V[s]&&this.cloud(a),h?.there&&s==="sabma"&&this.worst(a,h.there,n),s==="sam"&&h?.e&&!t.over&&this.ascent(h,t.settings.rho),V[s]||lt[s]){r.
fillStyle=n,r.globalAlpha=.8;for(let l of e.members(t.ensemble,t.noise))this.dot(l[0],l[1]);r.globalAlpha=1}Q(r,O(s)[3],this.X(a.mean[0]),this.
Y(a.mean[1]),5.5,n)}worst(t,s,e){let{pen:i,X:r,Y:n,unit:a}=this;i.lineWidth=1.4,this.outline(s,[4,4]),this.line(t.mean,s.mean);let h=n(s.mean[1])-
2*Math.exp(s.logStd[1])*a-11,l=a<80?"worst q′":"q′, worst in the radius";this.labels.put(l,r(s.mean[0]),h,{color:e,size:12.5,align:"cent\
er"})}ascent({from:t,e:s},e){let{pen:i,X:r,Y:n,unit:a}=this;i.lineWidth=1.5,i.setLineDash([4,4]),i.beginPath(),i.arc(r(t[0]),n(t[1]),e*a,0,Bt),
i.stroke(),i.setLineDash([]),this.line(t,[t[0]+s[0],t[1]+s[1]])}};function Te(o,t,s){let{pen:e,labels:i,width:r,height:n,unit:a}=o,h=L();s&&
s.drawMass(e,r,n,t.settings.T,Qt);for(let[l,c]of t.shadows)o.trail(c,k(l),.22);if(o.title("training ground"),!o.ends(t)){for(let[l,c]of t.runs)
o.run(t,l,c);o.means(t,l=>O(l)[0])}s&&i.put("true posterior: 50 % and 95 % of its mass",r-8,n-14,{color:h.truth,weight:600,align:"right"}),o.
places(t),e.strokeStyle=h.soft,e.lineWidth=2,e.beginPath(),e.moveTo(12,n-14),e.lineTo(12+At*a,n-14),e.stroke(),i.put(`${At}`,18+At*a,n-14,{color:h.
soft,size:12.5})}function Ae(o,t){let{pen:s,X:e,Y:i,labels:r,height:n}=o,a=L();if(o.title("test ground"),t.far>.05){let[h,l]=t.shift,[c,f]=t.
world.places[0]?.[1]??[0,0];s.strokeStyle=s.fillStyle=a.soft,s.lineWidth=2,s.beginPath(),s.moveTo(e(c),i(f)+26),s.lineTo(e(c+h),i(f+l)+26),s.
stroke(),s.beginPath(),s.arc(e(c+h),i(f+l)+26,3.5,0,Bt),s.fill();let p=t.bend?`, bent by ${t.bend}`:"",d=`moved by ${A(t.far)}${p}`;r.put(d,
10,n-14,{color:a.soft,size:12.5})}if(o.ends(t)){o.places(t,t.shift);return}for(let[h,l]of t.runs){if(l.lost)continue;let{q:c,members:f}=l.stands[l.
stands.length-1],p=k(h);if(s.fillStyle=s.strokeStyle=p,V[h])o.cloud(c);else for(let d of f)o.dot(d[0],d[1]);Q(s,O(h)[3],e(c.mean[0]),i(c.mean[1]),
5.5,p)}o.means(t,(h,l)=>l.test[l.test.length-1].toFixed(2)),o.places(t,t.shift)}var rs={shift:[0,.1,.2,.3,.4,.6,.8,1],bend:[0,.1,.2,.4],radius:ks,viT:Tt,T:Tt,rho:[0,.05,.1,.2,.3,.5,.8,1.2],rate:[.01,.02,.05,.1,.2],draws:[
1,2,4,8,16,32],ensemble:[1,2,5,10,20,30]},vi={gd:"",sam:"SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",vi:"\
VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: sharpness-aware Bayesian model averaging, lowers the l\
oss of the worst q′ within the radius of q",sgld:"SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",hmc:"\
HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior"},yi=o=>`${o} draw${o>1?"s":""}`,as=class{sliders={};constructor(t,s){
this.world=t;let{model:e}=t;this.playButton=j("Play","play or pause",()=>t.play(!t.clock.playing),{class:"pg-play"}),this.chips=b("div",{class:"\
pg-chips",role:"group","aria-label":"methods"});for(let a of Pt){let h=j("",`show or hide ${O(a)[0]}`,()=>t.toggle(a),{"data-method":a});h.append(
b("i",{"aria-hidden":"true"}),O(a)[0]),this.chips.append(h)}let i=Object.entries(Dt).map(([a,h])=>[a,h.label]);this.ground=ut("ground",i,"ho\
llow",a=>t.choose(a)),this.tools=this.toggles("what the pointer does","tool",[["down","push down"],["up","push up"],["start","move q"]]),this.
sides=this.toggles("which ground is shown","side",[["training","training ground"],["test","test ground"]]),this.score=b("div",{class:"pg-sco\
re",role:"group","aria-label":"losses"}),this.verdict=b("p",{class:"pg-verdict",role:"status"}),this.about=b("p",{class:"pg-about"}),this.names=
b("p",{class:"pg-about"}),this.truthButton=j("True posterior","the posterior, computed on a grid",()=>{t.truth=!t.truth,t.shown(!0)});let r=(a,h,l)=>b(
"div",{class:"pg-grip",tabindex:0,role:"group","aria-label":h,onkeydown:ke(l)},a.node);this.maps=b("div",{class:"pg-maps","data-side":"train\
ing"},r(t.training.board,"the training ground; arrow keys move the place where training starts",([a,h])=>t.moveStart(a,h)),r(t.testing.board,
"the test ground; arrow keys shift it",a=>t.moveTest(e.shift.map((h,l)=>h+a[l])))),this.first=b("div",{class:"pg-first"},this.keep("shift","\
shift of the test ground",a=>t.moveTest(e.along(a)),A),this.slider("radius","radius of SA-BMA",a=>Number(a)?`${a} × the width of q`:"0: as \
VI","how far from q SA-BMA looks for the worst posterior, √(2 KL)"),this.slider("viT","temperature of VI",a=>`T = ${a}`,"the weight of KL(\
q ‖ prior)")),this.others=b("div",{class:"pg-sliders"},this.slider("T","temperature of the others",a=>`T = ${a}`),this.slider("rho","radiu\
s of SAM",a=>`${a}, a distance`),this.slider("rate","learning rate"),this.keep("ensemble","ensemble",a=>t.average(a),a=>yi(Number(a))),this.
keep("bend","bend of the test ground",a=>t.moveTest(e.shift,a)),this.slider("draws","draws a step",a=>`S = ${a}`,"of which a step averages g\
radients")),this.found=this.foundSliders();let n=[j("Link","copy a link to what is shown",a=>t.share(a.target)),j("PNG","save both grounds a\
s a picture",()=>t.picture())];this.more=b("details",{class:"pg-more"},b("summary",{},"More: other methods, grounds, settings, seeds, curves"),
this.verdict,b("div",{class:"pg-row"},j("Step","one step of every method",()=>{t.play(!1),t.advance(1)}),j("20 seeds","20 runs of each metho\
d",()=>t.many()),this.truthButton,...s?n:[]),this.chips,this.names,this.others,b("div",{class:"pg-boards"},t.section.node,t.traces.node,t.chart.
node),b("div",{class:"pg-under"},this.ground,this.tools,this.about)),this.node=b("section",{class:"pg-world","aria-label":"two weights"},t.sequence.
node,this.sides,this.maps,t.frontier.node,this.score,this.first,this.found,b("div",{class:"pg-row pg-run"},this.playButton,j("Restart","the \
same run from its start",()=>t.train()),j("New seed","other noise; the last runs stay as shadows",()=>{e.seed+=1,t.train()})),this.more)}slider(t,s,e=String,i=""){
let{world:r}=this,n=(a,h)=>{r.model.settings[t]=a,this.side("training"),h?r.train():(r.model.rest(),r.draw())};return this.keep(t,s,n,e,i)}keep(t,s,e,i=String,r=""){
let n=new it(s,rs[t],rs[t][0],e,{say:i,help:r});return this.sliders[t]=n,n.node}toggles(t,s,e){let{world:i}=this,r=n=>{s==="side"?this.side(
n):i.tool=n,this.tell()};return b("div",{class:`pg-tools pg-${s}s`,role:"group","aria-label":t},...e.map(([n,a])=>j(a,a,()=>r(n),{[`data-${s}`]:n})))}foundSliders(){
let{world:t}=this,s=(e,i,r)=>new it(i,xe[e],t.frontier[e],n=>{t.frontier.show({[e]:n}),t.tellScore()},{say:r}).node;return b("div",{class:"p\
g-first pg-found"},s("radius","radius of SA-BMA",e=>Number(e)?e:"0: as VI"),s("T","temperature of VI",e=>`T = ${e}`))}side(t){this.maps.dataset.
side=t;for(let s of this.sides.children)s.setAttribute("aria-pressed",String(s.dataset.side===t))}show(t){let s=t.view==="frontier";for(let e of[
this.maps,this.sides,this.first])e.hidden=s;for(let e of[this.world.frontier.node,this.found])e.hidden=!s;(t.key==="draws"?this.first:this.others).
append(this.sliders.draws.node),this.side("training")}tell(){let{model:t,tool:s,truth:e}=this.world;for(let a of this.chips.children){let{method:h}=a.
dataset;a.setAttribute("aria-pressed",String(t.on.has(h))),a.style.setProperty("--method",k(h))}for(let a of this.tools.children)a.setAttribute(
"aria-pressed",String(a.dataset.tool===s));this.tools.hidden=t.name!=="yours",this.truthButton.setAttribute("aria-pressed",String(e)),this.ground.
querySelector("select").value=t.name;let{sliders:i}=this;for(let[a,h]of Object.entries(t.settings))i[a].value=h;i.bend.value=t.bend,i.ensemble.
value=t.ensemble,i.shift.value=t.far,i.shift.text.textContent=A(t.far),i.rho.node.hidden=!t.on.has("sam"),i.radius.node.hidden=!t.on.has("sa\
bma"),i.viT.node.hidden=!t.on.has("vi"),this.about.textContent=t.world.about;let r=[...t.on].some(a=>V[a])?"q: a method's cloud of weights":
"",n=[...[...t.on].map(a=>vi[a]),r].filter(Boolean);this.names.textContent=`${n.join(". ")}.`}};function Ls(o,t,s,e,i=!1){return b("div",{style:`--method:${k(o)}`,class:i?"pg-wins":""},b("span",{},t),b("b",{},s),b("small",{},e[0],b("br"),
e[1]))}var $e=o=>Number.isFinite(o)?o.toFixed(2):"–";function Ee({model:o,frontier:t,sequence:{card:s}}){if(s.view==="frontier")return t.numbers.
map(({method:r,nll:n,lambda:a})=>Ls(r,O(r)[0],a,["curvature λ₁",`test NLL ${n}`]));if(s.counts&&(o.ends.length||!o.steps))return s.counts(
o).map(({name:r,value:n})=>Ls("sabma",r,n,["runs end","in the meadow"]));let i=o.steps||o.ends.length?o.ranking(o.test)[0]?.method:"";return[
...o.runs.keys()].map(r=>{let n=$e(o.lossAt(o.test,r)),a=`training ${$e(o.lossAt(o.loss,r))}`;return Ls(r,O(r)[0],n,["test loss",a],i===r)})}var ns=class{at=0;guess="";told=!1;constructor(t){this.world=t,this.steps=b("div",{class:"pg-steps",role:"group","aria-label":"questions"},...Et.
map((r,n)=>j(`${n+1} ${r.title}`,r.title,()=>this.go(n)))),this.ask=b("p",{class:"pg-ask"}),this.guesses=b("div",{class:"pg-guess",role:"gro\
up","aria-label":"your guess"}),this.answer=b("p",{class:"pg-answer",role:"status"}),this.next=j("Next →","the next question",()=>this.go(
this.at+1),{class:"pg-next"});let s=b("div",{},this.steps,this.ask),e=b("div",{class:"pg-choose"},this.guesses,this.next),i=b("div",{class:"\
pg-reply"},e,this.answer);this.node=b("div",{class:"pg-card"},s,i)}get card(){return Et[this.at]}go(t){this.at=t,this.guess="",this.told=!1,
this.world.begin(this.card),this.show()}show(){let{card:t}=this;[...this.steps.children].forEach((s,e)=>{e===this.at?s.setAttribute("aria-cu\
rrent","step"):s.removeAttribute("aria-current")}),this.ask.textContent=t.ask,this.guesses.replaceChildren(...t.guesses.map(([s,e])=>j(e,`gu\
ess: ${e}`,()=>this.take(s),{"data-guess":s}))),this.answer.textContent="Your guess?",this.next.hidden=!0}take(t){this.guess=t,this.told=!1;
for(let s of this.guesses.children)s.setAttribute("aria-pressed",String(s.dataset.guess===t));this.answer.textContent="They train …",this.
world.run(this.card),this.tell()}tell(){let{card:t,world:s}=this;if(!this.guess||this.told||!we(t,s.model))return;this.told=!0;let e=t.truth(
s.model)===this.guess;this.answer.replaceChildren(b("b",{},e?"You guessed right. ":"Not quite. "),t.answer(s.model));for(let i of this.guesses.
children)i.classList.toggle("pg-right",i.dataset.guess===t.truth(s.model));this.next.hidden=this.at===Et.length-1,t.view==="grounds"&&s.side(
"test")}};var ki=150,Mi=6,Si=2e3,hs=class{tool="start";truth=!1;due=0;frames=0;still=[];constructor(t={}){this.model=new Zt(()=>this.shown(!0));let s=i=>new is(
(r,n,a,h,l)=>i(new os(r,n,a,h,l)));this.training=s(i=>Te(i,this.model,this.truth?this.training:null)),this.testing=s(i=>Ae(i,this.model));let e=(i,r=.8)=>new H(
(n,a,h)=>i(this.model,n,a,h),{ratio:r,label:"",least:230,most:300});this.section=e(le,.56),this.traces=e(ce),this.chart=e(de),this.frontier=
new es,this.sequence=new ns(this),this.panel=new as(this,t.link!==!1),this.node=this.panel.node,Me(this),Se(this),this.lay(),t.link!==!1&&this.
read(new URLSearchParams(location.search)),this.clock=new St(this.training.board.node,i=>this.frame(i)),this.sequence.show(),this.begin(Et[0],
!1)}side(t){this.panel.side(t)}begin(t,s=!0){let e=t.view==="frontier";this.play(!1),this.panel.show(t),s&&!e&&(this.model.seed=1,this.model.
on=new Set(t.on??["vi","sabma"]),this.model.choose("hollow"),Object.assign(this.model.settings,t.set),this.model.moveTest([Ts,0],0),this.lay()),
e&&this.frontier.show({open:!1,radius:1}),this.again(!1)}run(t){t.view==="frontier"?this.frontier.show({open:!0}):t.seeds?this.model.many(["\
sabma"],s=>t.tell(this.model,s),t.seeds):(Object.assign(this.model.settings,t.then),this.train()),this.tell()}choose(t){this.model.choose(t),
this.lay(),this.train()}lay(){let{model:t}=this;this.training.lay(t.loss,t.world.top),this.testing.lay(t.test,t.world.top),this.tool=t.name===
"yours"?"down":"start"}read(t){t.size&&(this.model.read(t,rs),this.lay())}moveTest(t,s=this.model.bend){this.model.moveTest(t,s),this.testing.
lay(this.model.test,this.model.world.top),this.side("test"),this.shown(!0)}moveStart(t,s){this.play(!1);let{start:e}=this.model;this.tool===
"start"&&(this.model.start=[e[0]+t,e[1]+s]),this.again(!1)}average(t){this.model.ensemble=t,this.shown(!0)}toggle(t){let{on:s}=this.model;s.
has(t)&&s.size===1||(s.has(t)?s.delete(t):s.add(t),this.train())}play(t){if(t&&this.model.over&&this.model.rest(),this.clock?.play(t),this.panel.
playButton.textContent=t?"Pause":"Play",this.tell(),!t){for(let s of this.still)s(this);this.model.over&&this.model.compareT()}}train(){this.
again(),Ht.matches?(this.model.advance(st),this.play(!1),this.shown(!0)):this.play(!0)}again(t=!0){this.model.rest(t),this.training.density=
null,this.shown(!0);for(let s of this.still)s(this)}advance(t){this.model.advance(t),this.shown()}frame(t){this.due+=t*ki;let s=Math.min(Mi,
Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&this.advance(s),this.model.over&&(this.play(!1),this.shown(!0))}many(){this.play(!1),
this.model.many([...this.model.on],()=>ie(this.model)),this.shown(!0)}recolor(){this.tell(),this.draw(!0),this.frontier.board.draw()}draw(t=!this.
clock?.playing){this.frames+=1,this.training.board.draw(),this.testing.board.draw(),this.panel.more.open&&((t||this.frames%3===1)&&this.section.
draw(),(t||this.frames%6===0)&&(this.traces.draw(),this.chart.draw()))}shown(t=!1){let{model:s}=this;if(this.draw(),this.clock?.playing||this.
tell(),(t||s.steps%4===0)&&this.tellScore(),!(t||!this.clock?.playing||s.steps%12===0))return;let e=s.tally||ee(s);this.panel.verdict.textContent=
e,this.training.board.say(`${s.world.label}, seen from above. ${e}`);let i=`the training ground shifted by ${A(s.far)}`,r=s.bend?` and bent \
by ${s.bend}`:"";this.testing.board.say(`The test ground: ${i}${r}. ${ts(s)}`),this.section.say("Section of the ground through a mean, with \
the posteriors above it."),this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${e}`),this.chart.say(`After a run: test l\
osses over temperature, radius or seeds. ${e}`),this.sequence.tell()}tell(){this.panel.tell()}tellScore(){this.panel.score.replaceChildren(...Ee(
this))}share(t){let s=new URL(`?${this.model.query}`,location.href).href;history.replaceState(null,"",`?${this.model.query}${location.hash}`);
let e=r=>{t.textContent=r},i=navigator.clipboard?.writeText(s);Promise.resolve(i).then(()=>e("Copied"),()=>e("In the address")),setTimeout(()=>e(
"Link"),Si)}picture(){let s=[this.training.board,this.testing.board].map(({canvas:n})=>n).filter(n=>n.checkVisibility()),e=s.reduce((n,a)=>n+
a.width,0),i=b("canvas",{width:e,height:s[0].height}),r=0;for(let n of s)i.getContext("2d").drawImage(n,r,0),r+=n.width;Hs(i.toDataURL("imag\
e/png"),`flatviz-${this.model.name}.png`)}};var Ti={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{radius:1,kappa:1}};function Le(o,t={}){let s=b(
"div",{class:"pg"});qs(s),s.append(b("style",{},Vs));let e=new URLSearchParams(t.link===!1?"":location.search),i=e.has("embed"),r={},n=t.worlds??
["weights","step","network","gap"],a=new Set(i?n.slice(0,1):n);document.documentElement.classList.toggle("pg-embedded",i);let h=(f,p,d)=>s.append(
b("h2",{},f),...p.map(m=>b("p",{},m)),d);(a.has("weights")||a.has("step"))&&(r.weights=new hs(t),s.append(r.weights.node));let l=()=>{a.has(
"step")&&(r.step=new Kt(r.weights),h("One step of SA-BMA",["From where SA-BMA stands above, whenever the run above rests."],r.step.node)),a.
has("network")&&(r.network=new Ft(t),h("A network of about fifty weights",["The same two trainings, of a network. Flat shows as wide rings o\
f the loss around the draws. On spirals the flatter training mostly has the lower test loss as well; on the moons it is a matter of the seed\
. Click on a picture to add a point."],r.network.node)),a.has("gap")&&(r.gap=new Ft({...t,...Ti}),h("A regression with a gap",["No points li\
e in the middle, so an honest answer is unsure there. HMC draws from the exact posterior, if it runs long enough: its band is narrow at the \
points and wide between them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands are too wide at the points and widen less\
 in the middle."],r.gap.node)),s.playground=r},c=()=>{s.dataset.theme=G()?"dark":"light";for(let f of Object.values(r))f.recolor()};return o.
replaceChildren(s),c(),r.weights?setTimeout(l,50):l(),Os(c)}var Ai={render:({model:o,el:t})=>Le(t,{worlds:o.get("worlds"),autoplay:!1,link:!1})};return je($i);})();
