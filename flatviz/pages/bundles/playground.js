var flatvizPlayground=(()=>{var Wt=Object.defineProperty;var js=Object.getOwnPropertyDescriptor;var zs=Object.getOwnPropertyNames;var Ds=Object.prototype.hasOwnProperty;var Bs=(n,t)=>{for(var s in t)Wt(n,s,{get:t[s],enumerable:!0})},Rs=(n,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of zs(
t))!Ds.call(n,i)&&i!==s&&Wt(n,i,{get:()=>t[i],enumerable:!(e=js(t,i))||e.enumerable});return n};var Ws=n=>Rs(Wt({},"__esModule",{value:!0}),n);var ue={};Bs(ue,{default:()=>me,mount:()=>Ps});function W(){let{body:n,documentElement:t}=document;return n.dataset.jpThemeLight?n.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function os(n){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(n);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",n),()=>{
s.disconnect(),t.removeEventListener("change",n)}}function ns(n){n.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return n.addEventListener("keydown",t),()=>n.removeEventListener("keydown",t)}var et=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},H=(n,t)=>{let s=0;for(let e=0;e<n.length;e++)
s+=n[e]*t[e];return s},ft=n=>Math.sqrt(H(n,n)),B=(n,t,s=1)=>n.map((e,i)=>e+s*t[i]),O=n=>new Float64Array(n),_s=1e-12,Us={bowl:({at:[n,t],h:s},e,i,a)=>(a[0]+=
s*(e-n),a[1]+=s*(i-t),.5*s*((e-n)**2+(i-t)**2)),dent:({at:[n,t],depth:s,width:e},i,a,r)=>{let[o,h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*
(((i-n)/o)**2+((a-t)/h)**2));return r[0]+=l*(i-n)/(o*o),r[1]+=l*(a-t)/(h*h),-l},valley:({k:n,a:t,b:s},e,i,a)=>{let r=i-t*e*e-s;return a[0]-=
2*n*r*t*e,a[1]+=n*r,.5*n*r*r},wall:({at:n,height:t,soft:s},e,i,a)=>{let r=Math.tanh((e-n)/s);return a[0]+=t*(1-r*r)/(2*s),.5*t*(1+r)},modes:({
a:n,b:t,narrow:s,ratio:e},i,a,r)=>{let o=s*e,h=((i-n[0])**2+(a-n[1])**2)/(2*s**2),l=((i-t[0])**2+(a-t[1])**2)/(2*o**2),d=Math.min(h,l),p=Math.
exp(d-h),g=Math.exp(d-l),c=p/(p+g);return r[0]+=c*(i-n[0])/s**2+(1-c)*(i-t[0])/o**2,r[1]+=c*(a-n[1])/s**2+(1-c)*(a-t[1])/o**2,d-Math.log(p+g)+
Math.log(2)}},Gs=O(2);function hs(n){return{dim:2,both(t,s){let e=s??Gs;e[0]=e[1]=0;let i=0;for(let a of n)i+=Us[a.kind](a,t[0],t[1],e);return i}}}
function ls(n,[t,s],e){let i=O(2);return{dim:2,both(a,r){i[0]=a[0]-t,i[1]=a[1]-s-e*(a[0]*a[0]-1);let o=n.both(i,r);return r&&(r[0]-=2*e*a[0]*
r[1]),o}}}var It=class{constructor(t){this.widths=t,this.starts=[],this.dim=0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=
t[s]*(t[s-1]+1);this.a=t.map(s=>O(s)),this.d=t.map(s=>O(s))}init(t,s=1){let e=O(this.dim);return this.starts.forEach((i,a)=>{let r=this.widths[a+
1]*(this.widths[a]+1);for(let o=0;o<r;o++)e[i+o]=s*t.normal()/Math.sqrt(this.widths[a])}),e}forward(t,s,e){let{a:i,widths:a,starts:r}=this,o=a.
length-1;for(let h=0;h<a[0];h++)i[0][h]=s[e+h];for(let h=0;h<o;h++){let l=i[h],d=i[h+1],p=a[h],g=a[h+1],c=r[h]+p*g;for(let f=0,m=r[h];f<g;f++){
let u=t[c+f];for(let b=0;b<p;b++)u+=t[m++]*l[b];d[f]=h+1<o?Math.tanh(u):u}}return i[o]}backward(t,s){let{a:e,d:i,widths:a,starts:r}=this;for(let o=a.
length-2;o>=0;o--){let h=e[o],l=i[o+1],d=i[o],p=a[o],g=a[o+1],c=r[o]+p*g;d.fill(0);for(let f=0,m=r[o];f<g;f++){let u=l[f];s[c+f]+=u;for(let b=0;b<
p;b++,m++)s[m]+=u*h[b],d[b]+=u*t[m]}if(o>0)for(let f=0;f<p;f++)d[f]*=1-h[f]*h[f]}}},Hs=.5*Math.log(2*Math.PI);function ds(n,{x:t,y:s,noise:e}){
let i=s.length,a=n.widths[0],r=n.widths.at(-1),o=n.d.at(-1);return{dim:n.dim,both(h,l){l&&l.fill(0);let d=0;for(let p=0;p<i;p++){let g=n.forward(
h,t,p*a);if(e){let c=(g[0]-s[p])/e;d+=.5*c*c+Math.log(e)+Hs,o[0]=c/e/i}else{let c=-1/0,f=0;for(let m=0;m<r;m++)c=Math.max(c,g[m]);for(let m=0;m<
r;m++)o[m]=Math.exp(g[m]-c),f+=o[m];d+=c+Math.log(f)-g[s[p]];for(let m=0;m<r;m++)o[m]=(o[m]/f-(m===s[p]?1:0))/i}l&&n.backward(h,l)}return d/
i}}}var vt=(n,t)=>n.mean.map((s,e)=>s+Math.exp(n.logStd[e])*t[e]),ht=n=>({mean:n.mean.slice(),logStd:n.logStd.slice()});function nt(n,t,s){let e={
value:0,mean:O(n.dim),logStd:O(n.dim)},i=O(n.dim);for(let a of s){e.value+=n.both(vt(t,a),i)/s.length;for(let r=0;r<i.length;r++)e.mean[r]+=
i[r]/s.length,e.logStd[r]+=i[r]*Math.exp(t.logStd[r])*a[r]/s.length}return e}function qt(n,t){let s={value:0,mean:O(n.mean.length),logStd:O(
n.mean.length)};for(let e=0;e<n.mean.length;e++){let i=Math.exp(-2*t.logStd[e]),a=n.mean[e]-t.mean[e],r=Math.exp(2*n.logStd[e])*i;s.value+=.5*
(r+a*a*i-1)+t.logStd[e]-n.logStd[e],s.mean[e]=i*a,s.logStd[e]=r-1}return s}function Ut(n,t,s){let e=t.mean.map((l,d)=>Math.exp(2*n.logStd[d])*
l),i=t.logStd.map(l=>l/2),a=H(t.mean,e),r=Math.max(a+H(t.logStd,i),1e-300),o=s/Math.sqrt(r),h={mean:e.map(l=>o*l),logStd:i.map(l=>o*l)};return{
delta:h,share:a/r,there:{mean:B(n.mean,h.mean),logStd:B(n.logStd,h.logStd)}}}var Ks=(n,t)=>{let s=t/(ft(n)+_s);return n.map(e=>e*s)},Vs=.2,Lt=.9,
Ot=n=>({mean:O(n),squares:O(n+1),filled:0});function cs(n,t,s,e,i,{rate:a,momentum:r,T:o}){let h=qt(n,e),l=n.mean.length,d=O(l),p=O(l),g=o||
1,c=n.logStd.map(Math.exp);for(let m=0;m<l;m++){let u=Math.exp(-2*e.logStd[m]),b=1/(c[m]*c[m]);if(d[m]=s.mean[m]/g,p[m]=s.logStd[m]/g,o)for(let y of i){
let v=u*(n.mean[m]-e.mean[m])+(u-b)*c[m]*y[m];d[m]+=v/i.length,p[m]+=v*c[m]*y[m]/i.length}}t.filled=Lt*t.filled+1-Lt;let f=t.squares.map((m,u)=>{
let b=u?p[u-1]*p[u-1]:d.reduce((y,v,w)=>y+v*v*c[w]*c[w],0);return t.squares[u]=Lt*m+(1-Lt)*b,1/(1+Math.sqrt(t.squares[u]/t.filled))});for(let m=0;m<
l;m++)t.mean[m]=r*t.mean[m]+f[0]*c[m]*c[m]*d[m],n.mean[m]-=a*t.mean[m],n.logStd[m]-=.5*Vs*a*f[m+1]*p[m];return h}function Pt(n,t,s,e,i,a){let r=nt(
n,t,i);return{from:ht(t),g:r,pull:cs(t,s,r,e,i,a)}}function Gt(n,t,s,e,i,a){if(a.radius===0)return Pt(n,t,s,e,i,a);let r=ht(t),o=nt(n,t,i),h=Ut(
t,o,a.radius),l=nt(n,h.there,i);return{from:r,g:o,...h,worst:l,pull:cs(t,s,l,e,i,a)}}function Ht(n,t,s,e,{rate:i,momentum:a,T:r,radius:o=0}){
let h=t.slice(),l=O(t.length),d=n.both(t,l),p=o?Ks(l,o):null,g=O(t.length),c=p?n.both(B(t,p),g):(g.set(l),d);for(let f=0;f<t.length;f++)s[f]=
a*s[f]+g[f]+r*Math.exp(-2*e.logStd[f])*(t[f]-e.mean[f]),t[f]-=i*s[f];return{from:h,value:d,at:c,g:l,e:p,there:g}}function Js(n,t,s,e,{rate:i,
T:a}){let r=O(t.length),o=n.both(t,r);for(let h=0;h<t.length;h++){let l=a*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-i*(r[h]+l)+Math.sqrt(
2*i*a)*e[h]}return{value:o,g:r}}function Qs(n,t,s,e){let i=O(e.length),a=n.both(vt(t,e),i);for(let r=0;r<e.length;r++)i[r]=i[r]*Math.exp(t.logStd[r])/
s+e[r];return{value:a/s+.5*H(e,e),slope:i,mean:a}}function Zs(n,t,s,e,i,a,r){let o=B(s,e.slope,-.5*i);for(let h=0;h<a;h++)t=B(t,o,i),e=n(t),
o=B(o,e.slope,h<a-1?-i:-.5*i),r?.push(t);return{z:t,momentum:o,at:e}}var _t=class{t;error;accept;first;average;constructor(t,s=.8){Object.assign(
this,{t:0,error:0,log:Math.log(t),average:Math.log(t),first:Math.log(t),accept:s})}get size(){return Math.exp(this.log)}follow(t){this.t+=1,
this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=this.t**-.75*
(this.log-this.average)}settle(){Object.assign(this,{t:0,error:0,log:this.average,first:this.average})}};function Ys(n,t,s,e,i,a,r,{time:o=Math.
PI/2,most:h=500,path:l=void 0}={}){let d=Math.min(h,Math.ceil(i*o/r)),p=Zs(n,t,e,s,r,d,l),g=s.value+.5*H(e,e)-p.at.value-.5*H(p.momentum,p.momentum),
c=Number.isFinite(g)?Math.exp(Math.min(0,g)):0;return a<c?{z:p.z,at:p.at,rate:c,n:d,taken:!0}:{z:t,at:s,rate:c,n:d,taken:!1}}var Kt=["gd","s\
am","vi","sabma","sgld","hmc"],Z={vi:!0,sabma:!0},Nt={sgld:!0,hmc:!0},ut=class{settings;random;loss;method;prior;steps;gradients;kept;constructor(t,s,e,i,a,r){
Object.assign(this,{method:t,loss:s,prior:e,settings:a,random:new et(r),steps:0,gradients:0,kept:[]}),this.q=ht(i),this.velocity=Ot(s.dim),t===
"hmc"&&(this.z=i.mean.map((o,h)=>(o-e.mean[h])/Math.exp(e.logStd[h])),this.size=new _t(.1))}get finite(){return this.q.mean.every(t=>Number.
isFinite(t)&&Math.abs(t)<1e6)&&this.q.logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(
this.loss.dim))}step(){let{method:t,loss:s,q:e,velocity:i,prior:a,settings:r}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let o=this.noise();
this.last=(t==="vi"?Pt:Gt)(s,e,i,a,o,r),this.last.noise=o,this.gradients+=o.length*(this.last.worst?2:1)}else if(t==="gd"||t==="sam"){let o=t===
"sam"?r.radius:0;this.last=Ht(s,e.mean,i.mean,a,{...r,radius:o}),this.gradients+=o?2:1}else t==="sgld"?(this.last=Js(s,e.mean,a,this.random.
normals(s.dim),r),this.gradients+=1,this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:e,
random:i}=this,a=l=>Qs(t,s,e.T,l),r=[],o=i.normals(t.dim),h=.5+i.uniform();this.last=Ys(a,this.z,a(this.z),o,h,i.uniform(),this.size.size,{path:r,
most:e.most??200}),this.last.path=r.map(l=>vt(s,l)),this.z=this.last.z,this.gradients+=this.last.n,this.steps<=60&&this.size.follow(this.last.
rate),this.steps===60&&this.size.settle(),this.q.mean.set(vt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.
push(t),this.kept.length>400&&this.kept.shift())}members(t,s){if(Z[this.method])return s.slice(0,t).map(e=>vt(this.q,e));if(Nt[this.method]&&
this.kept.length){let e=Math.max(1,Math.floor(this.kept.length/2/t));return this.kept.filter((i,a)=>(this.kept.length-1-a)%e===0).slice(-t)}
return[this.q.mean]}};function Xs(n,t,s){let e=.001/Math.max(ft(s),1e-300),i=l=>{let d=O(t.length);return n.both(B(t,s,l*e),d),d},[a,r,o,h]=[
i(1),i(-1),i(2),i(-2)];return a.map((l,d)=>(8*(a[d]-r[d])-(o[d]-h[d]))/(12*e))}function wt(n,t,s,e=40,i=null){let a=t.length,r=Math.min(a,e),
o=[],h=[],l=[],d=new et(0).normals(a);for(let{vector:c}of i??[])d=B(d,c,10*Math.sqrt(a));d=d.map(c=>c/ft(d));for(let c=0;c<r;c++){o.push(d);
let f=Xs(n,t,d);h.push(H(d,f));for(let u=0;u<2;u++)for(let b of o)f=B(f,b,-H(b,f));let m=ft(f);if(c===r-1||m<1e-9)break;l.push(m),d=f.map(u=>u/
m)}let p=o.length,g=Array.from({length:p},(c,f)=>Float64Array.from({length:p},(m,u)=>f===u?h[f]:Math.abs(f-u)===1?l[Math.min(f,u)]:0));return te(
g).slice(0,s).map(({value:c,vector:f})=>{let m=O(a);return o.forEach((u,b)=>{for(let y=0;y<a;y++)m[y]+=f[b]*u[y]}),{value:c,vector:m}})}function te(n){
let t=n.length,s=n.map((e,i)=>Float64Array.from({length:t},(a,r)=>i===r?1:0));for(let e=0;e<40;e++){let i=0;for(let a=0;a<t;a++)for(let r=a+
1;r<t;r++){if(i+=n[a][r]**2,Math.abs(n[a][r])<1e-300)continue;let o=(n[r][r]-n[a][a])/(2*n[a][r]),h=(o>=0?1:-1)/(Math.abs(o)+Math.hypot(o,1)),
l=1/Math.hypot(h,1),d=h*l;for(let p=0;p<t;p++){let g=n[p][a],c=n[p][r];n[p][a]=l*g-d*c,n[p][r]=d*g+l*c}for(let p=0;p<t;p++){let g=n[a][p],c=n[r][p];
n[a][p]=l*g-d*c,n[r][p]=d*g+l*c}for(let p=0;p<t;p++){let g=s[p][a],c=s[p][r];s[p][a]=l*g-d*c,s[p][r]=d*g+l*c}}if(i<1e-24)break}return n.map(
(e,i)=>({value:e[i],vector:s.map(a=>a[i])})).sort((e,i)=>i.value-e.value)}var Vt=[];for(let n=-4.5;n<=4.5;n+=.5)for(let t=-4.5;t<=4.5;t+=.5)
Vt.push([n,t,Math.exp(-.5*(n*n+t*t))]);var se=Vt.reduce((n,t)=>n+t[2],0);function Ft(n,t){let[s,e]=t.logStd.map(Math.exp),i=O(2),a=0;for(let[
r,o,h]of Vt)i[0]=t.mean[0]+s*r,i[1]=t.mean[1]+e*o,a+=h*n.both(i,null);return a/se}function fs(n,t,s){let e=n.both(t,null);for(let i=1;i<=4;i++)
for(let a=0;a<32;a++){let r=s*i/4,o=2*Math.PI*a/32;e=Math.max(e,n.both([t[0]+r*Math.cos(o),t[1]+r*Math.sin(o)],null))}return e}function Jt(n,t,s){
let e=-1/0,i=0;for(let a of n)e=Math.max(e,a);for(let a=0;a<n.length;a++)t[s+a]=Math.exp(n[a]-e),i+=t[s+a];for(let a=0;a<n.length;a++)t[s+a]/=
i}function ps(n,t,s){let e=n.widths[0],i=n.widths.at(-1),a=s.length/e,r=O(a*i),o=O(a*i);for(let h of t){for(let l=0;l<a;l++)Jt(n.forward(h,s,
l*e),o,l*i);for(let l=0;l<r.length;l++)r[l]+=o[l]/t.length}return r}function gs(n,t){let s=n.length/t.length;return t.reduce((e,i,a)=>e-Math.
log(Math.max(n[a*s+i],1e-300)),0)/t.length}function ms(n,t){let s=n.length/t.length;return t.filter((e,i)=>{for(let a=0;a<s;a++)if(n[i*s+a]>
n[i*s+e])return!1;return!0}).length/t.length}function us(n,t,s=15){let e=n.length/t.length,i=O(s);return t.forEach((a,r)=>{let o=0;for(let d=1;d<
e;d++)n[r*e+d]>n[r*e+o]&&(o=d);let h=n[r*e+o],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));i[l]+=(o===a?1:0)-h}),i.reduce((a,r)=>a+Math.abs(
r),0)/t.length}function x(n,t={},...s){let e=document.createElement(n);for(let[i,a]of Object.entries(t))i.startsWith("on")?e.addEventListener(i.slice(2),a):
a!==null&&a!==!1&&e.setAttribute(i,a===!0?"":a);return e.append(...s.filter(i=>i!=null)),e}var D=(n,t,s,e={})=>x("button",{type:"button",title:t,
onclick:s,...e},n),T=n=>Number.isFinite(n)?Number(n.toPrecision(3)).toString():"–",I=n=>METHOD_STYLES[n],S=n=>I(n)[W()?2:1],it=class{stops;say;constructor(t,s,e,i,{
say:a=o=>String(o),help:r=""}={}){Object.assign(this,{stops:s,say:a}),this.input=x("input",{type:"range",min:0,max:s.length-1,step:1,"aria-l\
abel":t}),this.text=x("output"),this.node=x("div",{class:"pg-slider",title:r||null},x("span",{},t),this.text,this.input),this.input.addEventListener(
"input",()=>{this.told(),i(this.value,!1)}),this.input.addEventListener("change",()=>i(this.value,!0)),this.value=e}get value(){return this.
stops[Number(this.input.value)]}set value(t){let s=this.stops.map(e=>Math.abs(e-t));this.input.value=s.indexOf(Math.min(...s)),this.told()}told(){
this.text.textContent=this.say(this.value),this.input.setAttribute("aria-valuetext",this.text.textContent)}};function pt(n,t,s,e){let i=x("s\
elect",{"aria-label":n},...t.map(([a,r])=>x("option",{value:a,selected:a===s},r)));return i.addEventListener("change",()=>e(i.value)),x("lab\
el",{class:"pg-menu"},x("span",{},n),i)}var _=class{most;least;width;height;dense;paint;constructor(t,{ratio:s,label:e,least:i=0,most:a=1/0}){
this.canvas=x("canvas",{role:"img","aria-label":e}),this.node=x("div",{class:"pg-board"},this.canvas),Object.assign(this,{paint:t,ratio:s,least:i,
most:a,width:0,height:0}),new ResizeObserver(()=>this.fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.
min(this.most,Math.max(this.least,t*this.ratio)));if(!t||t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);Object.
assign(this,{width:t,height:s,dense:e,resized:!0}),Object.assign(this.canvas,{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.
draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.width)return;let t=this.canvas.getContext("2d");t.setTransform(this.
dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap="round",this.paint(t,this.width,this.height)}say(t){this.
canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},bt=class{seconds;frame;constructor(t,s){Object.assign(this,
{frame:s,playing:!1,visible:!1,request:0,last:0,seconds:[]}),new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.wake()},{threshold:.05}).
observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=performance.now();let t=s=>{
if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.seconds.push(e),this.seconds.length>120&&this.
seconds.shift(),this.request=requestAnimationFrame(t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}get rate(){return this.
seconds.length/this.seconds.reduce((t,s)=>t+s,0)}},gt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},ee={light:{ink:"\
#1f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{
ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"#3a434d",low:[25,43,54],high:[74,63,44],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},E=()=>ee[W()?
"dark":"light"];function k(n,t,s,e,{color:i=E().ink,size:a=13,align:r="left",weight:o=400,halo:h=!0,base:l="middle"}={}){n.font=`${o} ${a}px\
 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`,n.textAlign=r,n.textBaseline=l,h&&(n.lineWidth=3.5,n.strokeStyle=E().halo,
n.strokeText(t,s,e)),n.fillStyle=i,n.fillText(t,s,e)}function st(n,t,s,e,i,a){if(n.beginPath(),n.lineWidth=2.5,n.strokeStyle=n.fillStyle=a,t===
"x"){n.moveTo(s-i,e-i),n.lineTo(s+i,e+i),n.moveTo(s+i,e-i),n.lineTo(s-i,e+i),n.stroke();return}if(t==="cross"){n.moveTo(s-i,e),n.lineTo(s+i,
e),n.moveTo(s,e-i),n.lineTo(s,e+i),n.stroke();return}t==="square"?n.rect(s-i,e-i,2*i,2*i):t==="triangle-up"?(n.moveTo(s,e-1.2*i),n.lineTo(s+
1.1*i,e+i),n.lineTo(s-1.1*i,e+i),n.closePath()):n.arc(s,e,i,0,2*Math.PI),n.fill(),n.lineWidth=1.5,n.strokeStyle=E().paper,n.stroke()}function lt(n,t,s,e){
let i=[],a=(r,o)=>(e-r)/(o-r);for(let r=0;r+1<t;r++)for(let o=0;o+1<s;o++){let h=r*s+o,l=n[h],d=n[h+1],p=n[h+s+1],g=n[h+s],c=[];l<e!=d<e&&c.
push([o+a(l,d),r]),d<e!=p<e&&c.push([o+1,r+a(d,p)]),g<e!=p<e&&c.push([o+a(g,p),r+1]),l<e!=g<e&&c.push([o,r+a(l,g)]);for(let f=0;f+1<c.length;f+=
2)i.push([...c[f],...c[f+1]])}return i}function dt(n,t,s,e,i,a){n.beginPath();for(let[r,o,h,l]of t)n.moveTo(r/(e-1)*i,o/(s-1)*a),n.lineTo(h/
(e-1)*i,l/(s-1)*a);n.stroke()}function Ct(n,t,s,e,i,a,r,{log:o=!1,most:h=0}={}){let l=E(),d=52,p=w=>o?Math.log10(Math.max(w,1e-6)):w,g=r.flatMap(
w=>w.y.filter(Number.isFinite).map(p)),[c,f]=[Math.min(...g),Math.max(...g)];g.length||([c,f]=[0,1]);let m=o?.6:.05*Math.max(1,Math.abs(f));
f-c<m&&([c,f]=[(c+f-m)/2,(c+f+m)/2]);let u=Math.max(h,...r.map(w=>w.x.at(-1)??0),10),b=w=>t+(e-d)*w/u,y=w=>s+i-7-(i-32)*(p(w)-c)/(f-c);n.strokeStyle=
l.line,n.lineWidth=1,n.beginPath(),n.moveTo(t,s+i-.5),n.lineTo(t+e-d,s+i-.5),n.stroke(),k(n,a,t,s+9,{color:l.soft,size:12.5,halo:!1});let v=[];
for(let w of r){n.beginPath(),w.y.forEach((F,C)=>{Number.isFinite(F)&&n.lineTo(b(w.x[C]),y(F))}),n.strokeStyle=w.color,n.globalAlpha=w.faint?
.25:w.thin?.6:1,n.lineWidth=w.faint||w.thin?1.2:2.4,n.stroke(),n.globalAlpha=1;let M=w.y.at(-1);!w.faint&&!w.thin&&Number.isFinite(M)&&v.push(
{x:b(w.x.at(-1))+6,y:y(M),text:T(M),color:w.color})}v.sort((w,M)=>w.y-M.y),v.forEach((w,M)=>{M&&w.y<v[M-1].y+14&&(w.y=v[M-1].y+14)});for(let w=v.
length-1,M=s+i;w>=0;M=v[w].y-14,w--)v[w].y=Math.min(v[w].y,M);for(let w of v)k(n,w.text,w.x,w.y,{color:w.color,size:12.5,weight:600})}var R=27,j=23,Qt=1.2,ie=1.5,ae=200,Zt=1500,re=3,Yt=.15,ws=[[78,134,181],[214,133,62]],bs={spiral:"spirals",moons:"two moons",circles:"circle\
s",xor:"XOR",none:"your points alone, two of each or more"},oe="a regression with a gap",ys={one:["one layer of 12",[12]],two:["two layers o\
f 8",[8,8]]};function xs(n,t,s,e){let i=new Float64Array(n==="gap"?t:2*t),a=n==="gap"?new Float64Array(t):new Int32Array(t);for(let r=0;r<t;r++){
let o=r%2,h=e.uniform(),l=o?-1:1;if(n==="gap"){i[r]=o?-1.8+.8*h:.8+h,a[r]=Math.sin(2.2*i[r])+Yt*e.normal();continue}let[d,p]={moons:()=>o?[.5-
1.2*Math.cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let g=o?.6:1.5;return[
g*Math.cos(2*Math.PI*h),g*Math.sin(2*Math.PI*h)]},spiral:()=>{let g=.25+1.5*h,c=4.2*h+(o?Math.PI:0);return[g*Math.cos(c),g*Math.sin(c)]},xor:()=>{
let g=e.uniform()<.5?1:-1;return[g*(.25+1.3*h),g*l*(.25+1.3*e.uniform())]}}[n]();i[2*r]=d+s*e.normal(),i[2*r+1]=p+s*e.normal(),a[r]=o}return{
x:i,y:Array.from(a),noise:n==="gap"?Yt:null}}var Xt=class{world;x;test;ece;lambda;fields;turn;constructor(t,s){Object.assign(this,{world:t,method:s,
shadows:[]}),this.plane=new _((e,i,a)=>this.drawInputs(e,i,a),{ratio:.8,label:""}),this.loss=new _((e,i,a)=>this.drawLoss(e,i,a),{ratio:.5,label:"",
most:230}),this.plane.canvas.addEventListener("click",e=>t.add(e,this.plane.canvas)),this.menu=pt("method",["gd","sam","vi","sabma","sgld","\
hmc"].map(e=>[e,I(e)[0]]),s,e=>{this.method=e,this.shadows=[],t.again()}),this.node=x("div",{class:"pg-pane"},this.menu,this.plane.node,t.planes?
this.loss.node:null)}begin(){let{world:t}=this,s=t.kind==="gap",{radius:e,rho:i,kappa:a,rate:r}=t.settings;this.plane.reshape(s?.6:.8),this.
network=new It([s?1:2,...ys[t.net][1],s?1:2]);let o=this.network.dim,h=new et(1e3+t.seed),l=t.train,d=s&&!Z[this.method]?.05:1;this.learned=
ds(this.network,l);let p={mean:new Float64Array(o),logStd:new Float64Array(o).fill(Math.log(1.5))},g={mean:this.network.init(h),logStd:new Float64Array(
o).fill(Math.log(.05))},c=this.method==="sgld"?.2:1,f={T:a/l.y.length,rate:r*d*c,momentum:.9,draws:2,radius:this.method==="sam"?i:e,most:s?30:
12};this.learner=new ut(this.method,this.learned,p,g,f,t.seed),this.noise=Array.from({length:30},()=>h.normals(o)),Object.assign(this,{fields:[],
turn:0,x:[],test:[],ece:[],lambda:[],axes:null,near:wt(this.learned,this.learner.q.mean,2),drawn:null,row:0,lost:!1}),this.refresh(1/0),this.
score()}keep(){this.x.length<8||(this.shadows.push({field:this.world.kind==="gap"?this.mean:Float64Array.from(this.mean,t=>t-.5),x:this.x,test:this.
test,ece:this.ece,lambda:this.lambda}),this.shadows.length>8&&this.shadows.shift())}members(){return this.learner.members(this.world.draws,this.
noise)}step(){this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),{grid:e}=this.world,i=e.length/
this.network.widths[0],a=this.world.kind==="gap",r=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.length;for(let o=0;o<
s.length;o++){if(this.fields[o]&&(o-this.turn+s.length)%s.length>=t)continue;let h=this.fields[o]??=new Float32Array(i);for(let l=0;l<i;l++){
let d=this.network.forward(s[o],e,l*this.network.widths[0]);a?h[l]=d[0]:(Jt(d,r,0),h[l]=r[1])}}t<s.length&&(this.turn+=t),this.mean=new Float32Array(
i);for(let o of this.fields)for(let h=0;h<i;h++)this.mean[h]+=o[h]/s.length}score(){let{test:t,kind:s}=this.world,e=this.members();if(this.x.
push(this.world.steps),s==="gap"){let i=t.y.reduce((a,r,o)=>{let h=e.reduce((l,d)=>{let p=(this.network.forward(d,t.x,o)[0]-r)/t.noise;return l+
Math.exp(-.5*p*p)},0)/e.length;return a-Math.log(Math.max(h,1e-30))+Math.log(t.noise)+.5*Math.log(2*Math.PI)},0);this.test.push(i/t.y.length),
this.ece.push(NaN)}else{let i=ps(this.network,e,t.x);this.test.push(gs(i,t.y)),this.ece.push(us(i,t.y)),this.right=ms(i,t.y)}this.lambda.push(
this.lost?NaN:(this.near=wt(this.learned,this.learner.q.mean,2,12,this.near))[0].value)}differ(t){return Math.sqrt(this.fields.reduce((s,e)=>s+
(e[t]-this.mean[t])**2,0)/this.fields.length)}get unsure(){let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.train;return{gap:t(-.1),
points:s.reduce((e,i)=>e+t(i),0)/s.length}}curve(){this.lost||(this.axes=this.near=wt(this.learned,this.learner.q.mean,2,12,this.near),this.
center=this.learner.q.mean.slice(),this.next=new Float64Array(j*j),this.nextAxes=this.axes,this.row=0)}fill(t){for(;this.world.planes&&t>0&&
this.next&&this.row<j;t--,this.row++)for(let s=0;s<j;s++){let[e,i]=[s,this.row].map(a=>(2*a/(j-1)-1)*Qt);this.next[this.row*j+s]=this.learned.
both(B(B(this.center,this.axes[0].vector,e),this.axes[1].vector,-i/2),null)}this.next&&this.row===j&&(this.drawn={values:this.next,axes:this.
nextAxes,center:this.center},this.next=null)}draw(){this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){this.mean&&(this.world.kind==="gap"?
this.drawRegression(t,s,e):this.drawClasses(t,s,e),this.lost&&k(t,"diverged: lower rate or radius",s/2,e/2,{align:"center",weight:700}))}drawClasses(t,s,e){
let i=W(),a=i?[21,25,30]:[255,255,255],r=x("canvas",{width:R,height:R}),o=r.getContext("2d"),h=o.createImageData(R,R),l=E(),d=S(this.method);
this.mean.forEach((u,b)=>{let y=Math.abs(2*u-1),v=ws[u>.5?1:0];for(let w=0;w<3;w++)h.data[4*b+w]=a[w]+(v[w]-a[w])*.75*y;h.data[4*b+3]=255}),
o.putImageData(h,0,0),t.imageSmoothingQuality="high",t.drawImage(r,.5,.5,R-1,R-1,0,0,s,e);let p=(u,b)=>dt(t,lt(u,R,R,b),R,R,s,e);t.strokeStyle=
l.ink,t.lineWidth=1.2,t.globalAlpha=.28;for(let u of this.shadows)p(u.field,0);if(t.strokeStyle=d,t.globalAlpha=.55,t.lineWidth=1.1,this.fields.
length>1)for(let u of this.fields)p(u,.5);t.globalAlpha=1,t.lineWidth=2.6,p(this.mean,.5);let{x:g,y:c}=this.world.train,[f,m]=[2.4,2];c.forEach(
(u,b)=>{let y=(g[2*b]/f+1)/2*s,v=(1-g[2*b+1]/m)/2*e;t.fillStyle=`rgb(${ws[u].map(w=>i?Math.min(255,1.35*w):.8*w).join()})`,t.strokeStyle=l.paper,
t.lineWidth=1.5,t.beginPath(),u?t.rect(y-4.5,v-4.5,9,9):t.arc(y,v,5,0,7),t.fill(),t.stroke()}),k(t,"pale: unsure",8,e-12,{size:12.5,color:l.
soft}),k(t,this.fields.length>1?"thin lines: the draws":"one point: one line",s-8,e-12,{size:12.5,color:l.soft,align:"right"})}drawRegression(t,s,e){
let i=E(),a=S(this.method),r=this.mean.length,o=c=>c/(r-1)*s,h=c=>e/2-c/2.6*e/2,l=this.mean.map((c,f)=>2*Math.hypot(this.differ(f),Yt));t.fillStyle=
t.strokeStyle=a,t.beginPath(),this.mean.forEach((c,f)=>t.lineTo(o(f),h(c+l[f])));for(let c=r-1;c>=0;c--)t.lineTo(o(c),h(this.mean[c]-l[c]));
t.globalAlpha=.16,t.fill(),t.globalAlpha=1;let d=(c,f,m)=>{t.beginPath(),c.forEach((u,b)=>t.lineTo(o(b),h(u))),t.globalAlpha=f,t.lineWidth=m,
t.stroke(),t.globalAlpha=1};t.strokeStyle=i.ink;for(let c of this.shadows)d(c.field,.25,1.2);if(t.strokeStyle=a,this.fields.length>1)for(let c of this.
fields)d(c,.45,1.1);d(this.mean,1,2.6);let{x:p,y:g}=this.world.train;t.fillStyle=i.ink,g.forEach((c,f)=>{t.beginPath(),t.arc((p[f]/3+1)/2*s,
h(c),3.6,0,7),t.fill()}),k(t,"band: two standard deviations",8,e-12,{size:12.5,color:i.soft})}drawLoss(t,s,e){let i=E();if(!this.drawn){k(t,
"loss on the plane of the two sharpest directions",2,10,{color:i.soft,size:12.5,halo:!1});return}let{values:a,axes:r,center:o}=this.drawn,h=Math.
min(...a),l=a.map(c=>Math.min(1,(c-h)/this.world.high)),d=x("canvas",{width:j,height:j}),p=d.getContext("2d"),g=p.createImageData(j,j);l.forEach(
(c,f)=>{for(let m=0;m<3;m++)g.data[4*f+m]=i.low[m]+(i.high[m]-i.low[m])*c;g.data[4*f+3]=255}),p.putImageData(g,0,0),t.drawImage(d,.5,.5,j-1,
j-1,0,0,s,e),t.strokeStyle=W()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let c=1;c<10;c++)dt(t,lt(l,j,j,c/10),j,j,s,e);t.
fillStyle=S(this.method);for(let c of this.members()){let f=B(c,o,-1);t.beginPath(),t.arc((H(f,r[0].vector)/Qt+1)/2*s,(1-2*H(f,r[1].vector)/
Qt)/2*e,3,0,7),t.fill()}k(t,`loss, two sharpest directions · λ₁ = ${T(r[0].value)}`,6,12,{color:i.ink,size:12.5})}},kt=class{settings;label;seed;frames;planes;yours;constructor(t={}){
let{kind:s="spiral",methods:e=["vi","sabma"],planes:i=!0,label:a="a network",settings:r={}}=t;Object.assign(this,{kind:s,planes:i,label:a,net:"\
one",seed:1,draws:10,steps:0,frames:0,settings:{radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15,...r},yours:[],side:0}),this.panes=e.map(
o=>new Xt(this,o)),this.traces=new _((o,h,l)=>this.drawTraces(o,h,l),{ratio:.16,label:"",least:190,most:330}),this.build(),this.again(),this.
clock=new bt(this.panes[0].node,o=>this.frame(o)),!gt.matches&&t.autoplay!==!1&&this.play(!0)}build(){let t=i=>(a,r)=>{this.settings[i]=a,r&&
(this.forget(),this.again(),this.play(!0))};this.sliders={};let s=(i,a,r,o,h)=>this.sliders[i]=new it(a,r,this.settings[i],t(i),{say:o,help:h}).
node;this.playButton=D("Play","play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.verdict=x("p",{class:"pg-verdict",role:"\
status"});let e=i=>a=>{i(a),this.forget(),this.again(),this.play(!0)};this.node=x("section",{class:"pg-network","aria-label":this.label},x("\
div",{class:"pg-panes"},...this.panes.map(i=>i.node)),x("div",{class:"pg-row"},this.playButton,D("Restart","the same run from its start",()=>{
this.again(),this.play(!0)}),D("New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let i of this.panes)
i.keep();this.seed+=1,this.again(),this.play(!0)}),this.planes?pt("data",Object.entries(bs),this.kind,e(i=>{this.kind=i})):null,this.planes?
pt("a click adds",[["0","a circle"],["1","a square"]],"0",i=>{this.side=Number(i)}):null,pt("network",Object.entries(ys).map(([i,[a]])=>[i,a]),
this.net,e(i=>{this.net=i}))),this.verdict,this.traces.node,x("div",{class:"pg-sliders"},s("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,
2.8,4],i=>i?`${i} × the width of q`:"0: the same as VI"),s("rho","radius of SAM",[0,.05,.1,.2,.5,1],i=>`${i}, a distance`),s("kappa","tempe\
rature",[.01,.03,.1,.3,1],i=>i===1?"1: Bayes":`${i}: colder than Bayes`,"the weight of KL(q ‖ prior)"),s("rate","learning rate",[.005,.01,
.02,.05,.1]),s("shots","points a class or side",[4,8,12,20,40,80]),s("noise","noise of the points",[0,.1,.15,.2,.3,.5]),new it("ensemble",[1,
2,5,10,20,30],10,i=>{this.draws=i;for(let a of this.panes)a.refresh(1/0);this.draw()},{say:i=>`${i} draw${i>1?"s":""}`}).node))}add(t,s){if(this.
kind==="gap")return;let e=s.getBoundingClientRect();this.yours.push([2.4*(2*(t.clientX-e.left)/e.width-1),2*(1-2*(t.clientY-e.top)/e.height),
this.side]),this.forget(),this.again(),this.play(!0)}points(t,s){let{kind:e,settings:i,yours:a}=this,r=e==="none"&&[0,1].every(d=>a.filter(p=>p[2]===
d).length>1),{x:o,y:h,noise:l}=r?{x:[],y:[],noise:null}:xs(e==="none"?"xor":e,t,i.noise,s);return e==="gap"?{x:o,y:h,noise:l}:{x:Float64Array.
from([...o,...a.flatMap(([d,p])=>[d,p])]),y:[...h,...a.map(d=>d[2])],noise:l}}forget(){for(let t of this.panes)t.shadows=[]}again(){let{kind:t,
settings:s,seed:e}=this,i=2*s.shots,a=new et(e);this.steps=0,this.train=this.points(i,a),this.test=t==="none"?this.train:xs(t,ae,s.noise,a),
this.sliders.rho.hidden=this.panes.every(r=>r.method!=="sam"),this.sliders.noise.hidden=t==="gap",this.high=t==="gap"?40:ie,this.grid=t==="g\
ap"?Float64Array.from({length:121},(r,o)=>-3+o/20):Float64Array.from({length:2*R*R},(r,o)=>{let h=o>>1;return o%2?2*(1-2*Math.floor(h/R)/(R-
1)):2.4*(2*(h%R)/(R-1)-1)});for(let r of this.panes)r.begin(),r.curve(),r.fill(j);this.draw()}play(t){if(t&&this.steps>=Zt&&this.again(),this.
clock.play(t),this.playButton.textContent=t?"Pause":"Play",!t){for(let s of this.panes)s.refresh(1/0),s.curve(),s.fill(j),s.score();this.draw()}}advance(){
this.steps+=1;for(let t of this.panes)(t.method!=="hmc"||this.steps%2)&&t.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,(this.
due??0)+t*80);this.due>=1;this.due--)this.advance();this.frames+=1,this.jobs?.length||(this.jobs=this.round()),this.jobs.shift()(),performance.
now()-s<re&&this.jobs.shift()?.(),this.tell(),this.steps>=Zt&&this.play(!1)}round(){this.rounds=(this.rounds??0)+1;let t=this.rounds%4===0,s=this.
panes.filter(i=>!i.lost),e=i=>[()=>i.refresh(2),()=>i.plane.draw(),...this.planes?[()=>i.fill(2)]:[],...t?[()=>i.score(),()=>i.loss.draw()]:
[],...this.rounds%12===2?[()=>i.curve()]:[]];return[...s.flatMap(e),...t||!s.length?[()=>this.traces.draw()]:[]]}recolor(){this.draw()}draw(){
for(let t of this.panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.frames%30===0){if(!t)return;let s=this.panes.map(e=>`${I(e.method)[0]}\
: `+(e.lost?"diverged":`test loss ${T(e.test.at(-1))}, ${this.kind==="gap"?`its draws differ by ${T(e.unsure.gap)} in the gap and ${T(e.unsure.
points)} at the points`:`ECE ${T(e.ece.at(-1))}, ${Math.round(100*e.right)} % right, λ₁ ${T(e.axes[0].value)}`}`));this.verdict.textContent=
`Step ${this.steps}. ${s.join(" · ")}${this.verdictOf()}`,this.panes.forEach((e,i)=>{e.plane.say(`What the ensemble of ${I(e.method)[0]} pr\
edicts for ${bs[this.kind]??oe}. ${s[i]}.`),e.loss.say(`Training loss of ${I(e.method)[0]} on the plane of its two sharpest directions, the \
draws projected onto it.`)}),this.traces.say(`Against steps: ${s.join("; ")}.`)}verdictOf(){let t=this.panes.filter(o=>!o.lost&&Number.isFinite(
o.test.at(-1))),s=o=>I(o.method)[0];if(this.steps<200||this.kind==="gap"||t.length<2)return this.kind==="none"?" · tested on the points them\
selves":"";let e=o=>t.reduce((h,l)=>o(l)<o(h)?l:h),i=e(o=>o.test.at(-1)),a=e(o=>o.lambda.at(-1)),r=t.reduce((o,h)=>h.lambda.at(-1)>o.lambda.
at(-1)?h:o);return`. ${i===a?`${s(i)} is flatter and has the lower test loss.`:`${s(i)} has the lower test loss, though ${i===r?"its mean is\
 the sharpest":`${s(a)} is flatter`}: flat is not all that counts.`}`}drawTraces(t,s,e){let i=[["test loss","test"],["calibration error, ECE",
"ece"],["λ₁ of the training loss at the mean","lambda"]].filter(([,h])=>h!=="ece"||this.kind!=="gap"),a=s<620,r=a?s:s/i.length-14,o=a?e/i.
length:e;i.forEach(([h,l],d)=>{let p=this.panes.flatMap(g=>[...g.shadows.map(c=>({color:S(g.method),x:c.x,y:c[l],faint:!0})),{color:S(g.method),
x:g.x,y:g[l]}]);Ct(t,a?0:d*(r+14),a?d*o:0,r,o-4,h,p.filter(g=>g.y.some(Number.isFinite)),{log:l==="lambda",most:Zt})})}};var vs=`.pg { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #7b8794; --accent: #00805d;
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
.pg .pg-maps { display: grid; gap: 12px; min-width: 0; } .pg .pg-first { min-width: 0; display: grid; gap: 2px 26px; align-content: start; }\

.pg .pg-score { display: flex; flex-wrap: wrap; gap: 4px 22px; align-items: baseline; font-variant-numeric: tabular-nums; color: var(--soft)\
; min-height: 84px; align-content: start; }
.pg .pg-score b { font-size: 28px; line-height: 1.2; color: var(--method); margin-right: 8px; } .pg .pg-score .pg-wins b { text-decoration: \
underline; text-underline-offset: 4px; text-decoration-thickness: 3px; }
.pg .pg-score > :first-child { font-weight: 600; color: var(--ink); } .pg .pg-score small { flex-basis: 100%; font-size: 15px; }
.pg .pg-boards { display: grid; gap: 14px 26px; min-width: 0; }
.pg-embedded h1, .pg-embedded .lead, .pg-embedded .pg-about, .pg-embedded .pg > h2 { display: none; }
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
  .pg .pg-world, .pg .pg-net { gap: 4px; } .pg .pg-row, .pg .pg-chips { gap: 6px; } .pg button, .pg select { padding: 6px 10px; } .pg .pg-ve\
rdict { min-height: 6em; }
}
@container (min-width: 860px) {
  .pg .pg-world { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); align-items: start; }
  .pg .pg-world > * { grid-column: 1 / -1; } .pg .pg-world > .pg-verdict { max-width: 120ch; }
  .pg .pg-maps { grid-template-columns: 1fr 1fr; gap: 26px; } .pg .pg-first { grid-template-columns: 1fr 1fr; } .pg .pg-first .pg-slider:fir\
st-child { order: 2; } .pg .pg-first .pg-score { order: 3; grid-column: 1 / -1; }
  .pg .pg-world > .pg-row { margin: 0; } .pg .pg-boards { grid-template-columns: 1.15fr 1fr 1fr; } .pg .pg-verdict { min-height: 3em; }
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
`;var ks="http://www.w3.org/2000/svg",Mt=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step\
."],["g","g: which way the loss that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as\
 the mean could go, were the whole radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two\
 widths."],["worst","Ascend by Δ to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the wid\
ths took, the mean did not get."],["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells\
 SA-BMA from VI. It points where the slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend ag\
ainst g′ and the pull of the prior. The arrow is drawn at its true length; the thin blue one is the step of VI."]],jt=class{world;constructor(t){
Object.assign(this,{world:t,phase:0}),this.ground=new _((s,e,i)=>this.drawGround(s,e,i),{ratio:.52,label:"",least:260,most:620}),this.svg=document.
createElementNS(ks,"svg"),this.svg.setAttribute("aria-hidden","true"),this.ground.node.append(this.svg),this.profile=new _((s,e,i)=>this.drawProfile(
s,e,i),{ratio:.5,label:"",least:180,most:260}),this.sentence=x("p",{class:"pg-formula",role:"group","aria-label":"objective and step; point \
at a symbol to see its mark"}),this.text=x("p",{class:"pg-verdict",role:"status"}),this.slider=new it("phase",Mt.map((s,e)=>e),0,s=>this.go(
s),{say:s=>`${s+1} of ${Mt.length}`}),this.budget=x("div",{class:"pg-budget",role:"img"}),this.node=x("section",{class:"pg-step","aria-label":"\
one step of SA-BMA"},this.ground.node,x("div",{class:"pg-row"},D("Next","the next phase",()=>this.next(),{class:"pg-play"}),D("Back","the ph\
ase before",()=>this.go(Math.max(0,this.phase-1))),this.slider.node),this.text,x("div",{class:"pg-below"},x("div",{},this.sentence,this.budget),
this.profile.node)),this.write(),t.still.push(()=>this.take()),this.node.addEventListener("pointerover",s=>this.light(s.target.closest?.("[d\
ata-s]")?.dataset.s)),this.node.addEventListener("pointerleave",()=>this.light()),this.node.addEventListener("focusin",s=>this.light(s.target.
dataset?.s)),this.node.addEventListener("click",s=>{let e=s.target.closest?.(".pg-formula [data-s]")?.dataset.s;e&&(this.reveal(e),this.light(
e))}),this.take()}take(t){let{world:s}=this,e=s.runs.get("sabma")?.learner??s.learner("sabma",s.seed),i=t??ht(e.q),a=Ot(2);this.prior=e.prior,
this.settings={...e.settings,radius:s.settings.radius,T:s.settings.T,rate:s.settings.rate},this.loss=s.loss,this.noise=s.noise.slice(0,4),this.
record=Gt(this.loss,i,a,this.prior,this.noise,this.settings),this.after=i,this.plain=ht(this.record.from),Pt(this.loss,this.plain,Ot(2),this.
prior,this.noise,this.settings);let{g:r,delta:o}=this.record;this.slope=o?H(r.mean,o.mean)+H(r.logStd,o.logStd):0,this.promised=r.value+this.
slope,this.relief=null,this.go(t?0:this.phase)}next(){this.phase<Mt.length-1?this.go(this.phase+1):this.take(this.after)}go(t){this.phase=this.
slider.value=t,this.text.textContent=`${t+1}. ${Mt[t][1]}`,this.recolor()}recolor(){this.ground.draw(),this.profile.draw(),this.tellBudget();
let t=this.record;this.profile.say(`The loss along the ascent from q${t.there?`: ${T(t.g.value)} at q, ${T(t.worst.value)} at q′, ${T(this.
promised)} by the straight line of slope g`:"; there is none at radius 0"}.`),this.ground.say(`One step of SA-BMA on the ground. ${this.text.
textContent} Loss that q expects ${T(t.g.value)}`+(t.there?`, that q′ expects ${T(t.worst.value)}.`:"; the radius is 0, so that there is n\
o q′."))}write(){let t=(s,e)=>x("span",{"data-s":s,tabindex:0,role:"button"},e);this.sentence.append("min over ",t("q","q")," of max over ",
t("worst","q′")," in ",t("ball","KL(q′ ‖ q) ≤ radius²/2")," of E",x("sub",{},"q′"),"[L] + T ",t("move","KL(q ‖ prior)"),x("br"),
t("worst","Δ")," = ",t("ball","radius")," · F⁻¹",t("g","g")," / √(",t("g","g"),"ᵀF⁻¹",t("g","g"),")",x("br"),t("worst","q′"),"\
 = ",t("q","q")," + ",t("worst","Δ"),",  ",t("there","g′")," = ",t("g","g")," + ",t("diff","(g′ − g)"),x("br"),t("q","q")," ← ",t("\
q","q")," − ",t("move","rate · F⁻¹(g′ + T ∇KL)"),x("small",{},"F: the Fisher matrix of q itself. For a mean it is 1/width², for th\
e logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients."))}reveal(t){let s=Mt.findIndex(
([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);for(let s of this.node.querySelectorAll("[data-s]"))
s.classList.toggle("pg-lit",s.dataset.s===t)}tellBudget(){let{share:t,there:s}=this.record,{radius:e}=this.settings,i=r=>`${Math.round(100*r)}\
 %`;if(this.budget.hidden=this.phase<3||!s,this.budget.hidden)return;let a=`${i(t)} of radius² went into the means, ${i(1-t)} into the widt\
hs: the mean of q′ lies at √${t.toFixed(2)} = ${i(Math.sqrt(t))} of the way to the edge.`;this.budget.setAttribute("aria-label",a),this.
budget.replaceChildren(x("div",{class:"pg-bar"},x("i",{style:`width:${100*t}%`},t>.25?"means":""),x("b",{style:`width:${100*(1-t)}%`},t<.75?
"widths":"")),x("p",{},`Radius ${e}. `,a))}view(t,s){let{from:e,there:i}=this.record,a=e.logStd.map(Math.exp),r=Math.max(2.1,this.settings.radius+
.3),o=[0,1].map(l=>Math.max(r*a[l],i?Math.abs(i.mean[l]-e.mean[l])+2.1*Math.exp(i.logStd[l]):0)*1.12),h=Math.min(t/2/o[0],s/2/o[1]);return{unit:h,
X:l=>t/2+(l-e.mean[0])*h,Y:l=>s/2-(l-e.mean[1])*h,center:e.mean}}drawGround(t,s,e){if(!this.record)return;let{unit:i,center:a}=this.view(s,e),
r=E(),o=121,h=Math.round(120*e/s)+1,l=[s,e,i,W()].join();if(this.relief?.key!==l){let f=new Float64Array(2),m=new Float64Array(o*h);for(let y=0;y<
h;y++)for(let v=0;v<o;v++)f[0]=a[0]+(v/(o-1)-.5)*s/i,f[1]=a[1]-(y/(h-1)-.5)*e/i,m[y*o+v]=this.loss.both(f,null);let u=Math.min(...m),b=Math.
max(1e-9,Math.max(...m)-u);this.relief={key:l,columns:o,rows:h,share:m.map(y=>(y-u)/b)}}let{share:d}=this.relief,p=x("canvas",{width:o,height:h}),
g=p.getContext("2d"),c=g.createImageData(o,h);d.forEach((f,m)=>{for(let u=0;u<3;u++)c.data[4*m+u]=r.low[u]+(r.high[u]-r.low[u])*f;c.data[4*m+
3]=255}),g.putImageData(c,0,0),t.drawImage(p,0,0,s,e),t.strokeStyle=W()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let f=1;f<
14;f++)dt(t,lt(d,h,o,f/14),h,o,s,e);this.drawMarks(s,e)}drawMarks(t,s){let{X:e,Y:i,unit:a}=this.view(t,s),{from:r,g:o,there:h,worst:l}=this.
record,{radius:d}=this.settings,p=S("sabma"),g=S("vi"),c=S("sam"),f=E().truth,m=E().ink;this.svg.setAttribute("viewBox",`0 0 ${t} ${s}`),this.
svg.replaceChildren();let u=($,q,P=this.svg)=>{let L=document.createElementNS(ks,$);for(let[z,ct]of Object.entries(q))L.setAttribute(z,ct);return P.
append(L),L},b=$=>u("g",{"data-s":$}),y=($,q,P,L,z)=>u("ellipse",{cx:e(q[0]),cy:i(q[1]),rx:P*a,ry:L*a,fill:"none",...z},$),v=[],w=[],M=(...$)=>v.
push($),F=($,q,P,L,z,ct,yt,Bt={})=>{let rt=Math.hypot(L,z),A=Math.min(11,.6*rt),[G,tt]=rt?[L/rt,z/rt]:[0,0];for(let ot=0;ot<=12;ot++)w.push(
[q+L*ot/12,P+z*ot/12]);u("line",{x1:q,y1:P,x2:q+L-G*A*.7,y2:P+z-tt*A*.7,stroke:ct,"stroke-width":3.2,...Bt},$),u("path",{d:`M${q+L},${P+z} L${q+
L-G*A-tt*A*.55},${P+z-tt*A+G*A*.55} L${q+L-G*A+tt*A*.55},${P+z-tt*A-G*A*.55} Z`,fill:ct},$),yt&&M($,q+L+9*G+(G<0?-14:2),P+z+14*tt+5,yt,ct)},
C=r.logStd.map(Math.exp),[U,X]=[e(r.mean[0]),i(r.mean[1])],mt=$=>this.phase>=$,Ns=Math.max(ft(o.mean),l?ft(l.mean):0,1e-9),Q=.3*Math.min(t,s)/
Ns;if(mt(2)){let $=b("ball");y($,r.mean,d*C[0],d*C[1],{stroke:c,"stroke-width":2,"stroke-dasharray":"3 6"}),M($,U+d*C[0]*a*.72+6,X+d*C[1]*a*
.72+12,"ball",c)}let $t=b("q");y($t,r.mean,2*C[0],2*C[1],{stroke:m,"stroke-width":2.4,fill:m,"fill-opacity":.07});for(let $ of this.noise)u(
"circle",{cx:e(r.mean[0]+C[0]*$[0]),cy:i(r.mean[1]+C[1]*$[1]),r:3.4,fill:m},$t);if(u("circle",{cx:U,cy:X,r:6,fill:m,stroke:E().paper,"stroke\
-width":1.5},$t),M($t,U-2*C[0]*a*.72-20,X-2*C[1]*a*.72-6,"q",m),mt(3)&&h){let $=b("worst"),q=h.logStd.map(Math.exp),[P,L]=[e(h.mean[0]),i(h.
mean[1])];if(y($,h.mean,2*q[0],2*q[1],{stroke:c,"stroke-width":2.4,fill:c,"fill-opacity":.08}),F($,U,X,P-U,L-X,c,"Δ"),u("circle",{cx:P,cy:L,
r:5,fill:c,stroke:E().paper,"stroke-width":1.5},$),M($,P-2*q[0]*a*.72-26,L+2*q[1]*a*.72+16,"q′",c),mt(5)){let z=b("diff");F(z,P,L,o.mean[0]*
Q,-o.mean[1]*Q,g,"",{"stroke-dasharray":"4 5"}),F(z,P+o.mean[0]*Q,L-o.mean[1]*Q,(l.mean[0]-o.mean[0])*Q,-(l.mean[1]-o.mean[1])*Q,f),M(z,P+(o.
mean[0]+l.mean[0])/2*Q-20,L-(o.mean[1]+l.mean[1])/2*Q-12,"g′ − g",f)}mt(4)&&F(b("there"),P,L,l.mean[0]*Q,-l.mean[1]*Q,p,"g′")}if(mt(1)&&
F(b("g"),U,X,o.mean[0]*Q,-o.mean[1]*Q,g,"g"),mt(6)){let $=b("move"),q=this.after.logStd.map(Math.exp);y($,this.after.mean,2*q[0],2*q[1],{stroke:p,
"stroke-width":2.4,"stroke-dasharray":"7 4"}),F($,U,X,e(this.plain.mean[0])-U,i(this.plain.mean[1])-X,g,"",{"stroke-width":2}),F($,U,X,e(this.
after.mean[0])-U,i(this.after.mean[1])-X,p,"step")}let rs=[];for(let[$,q,P,L,z]of v){let ct=10*L.length,yt=([A,G])=>[q+A,P+G-14,q+A+ct,P+G+4],
Bt=A=>{let[G,tt,ot,Rt]=yt(A);return G>4&&ot<t-4&&tt>4&&Rt<s-4&&!w.some(([At,Et])=>At>G-4&&At<ot+4&&Et>tt-4&&Et<Rt+4)&&!rs.some(([At,Et,Fs,Cs])=>G<
Fs&&ot>At&&tt<Cs&&Rt>Et)},rt=[0,14,26,40,56].flatMap(A=>[[0,-A],[0,A],[A,0],[-A,0],[A,-A],[-A,-A],[A,A],[-A,A]]).find(Bt)??[0,0];rs.push(yt(
rt)),u("text",{x:q+rt[0],y:P+rt[1],fill:z},$).textContent=L}}drawProfile(t,s,e){if(!this.record)return;let i=E(),{from:a,delta:r,g:o,worst:h}=this.
record,l=S("sam");if(k(t,"loss along the ascent from q (0) to q′ (1)",2,10,{color:i.soft,size:12.5,halo:!1}),!r){k(t,"radius 0: no ascent",
s/2,e/2,{align:"center",halo:!1});return}let d=Array.from({length:41},(y,v)=>v/40*1.4),p=d.map(y=>nt(this.loss,{mean:B(a.mean,r.mean,y),logStd:B(
a.logStd,r.logStd,y)},this.noise).value),g=d.map(y=>o.value+y*this.slope),c=Math.min(...p,...g),f=Math.max(...p,...g),m=y=>8+(s-70)*y/1.4,u=y=>e-
22-(e-52)*(y-c)/Math.max(f-c,1e-9),b=(y,v,w)=>{t.beginPath(),y.forEach((M,F)=>t.lineTo(m(d[F]),u(M))),t.strokeStyle=v,t.lineWidth=2.2,t.setLineDash(
w),t.stroke(),t.setLineDash([])};b(g,S("vi"),[4,5]),b(p,i.ink,[]),k(t,"slope g",m(1.4)+6,u(g.at(-1)),{color:S("vi"),size:12.5}),k(t,"loss",m(
1.4)+6,Math.abs(u(p.at(-1))-u(g.at(-1)))<14?u(g.at(-1))+(u(p.at(-1))<u(g.at(-1))?-15:15):u(p.at(-1)),{size:12.5}),st(t,"circle",m(0),u(o.value),
5,i.ink),k(t,T(o.value),m(0)+4,u(o.value)+14,{size:12.5}),!(this.phase<3)&&(st(t,"circle",m(1),u(h.value),5,l),k(t,T(h.value),m(1)+4,u(h.value)+
14,{size:12.5,color:l}))}};function he(n,t={},...s){let e=document.createElement(n);for(let[i,a]of Object.entries(t))e.setAttribute(i,a);return e.append(...s),e}var Fe=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function Ms(n,t){let s=he("a",{href:n,download:t});document.body.append(s),s.click(),s.remove()}var V=[-3,3],at=[-2,2],N=181,K=121;function Tt(n,t){let s=n.getBoundingClientRect();return[V[0]+(t.clientX-s.left)/s.width*(V[1]-V[0]),at[1]-
(t.clientY-s.top)/s.height*(at[1]-at[0])]}var St=class{loss;top;relief;density;constructor(t){this.board=new _((s,e,i)=>{if(!this.loss)return;
let a=this.relief,r=e/6;(!a||a.width!==e||a.height!==i||a.dark!==W())&&this.paintRelief(e,i),s.drawImage(this.relief.whole,0,0,e,i),t(s,o=>(o-
V[0])*r,o=>(at[1]-o)*r,r,i)},{ratio:2/3,label:""})}lay(t,s){Object.assign(this,{loss:t,top:s,relief:null,density:null})}get low(){return this.
relief?.low??0}heights(){let t=new Float64Array(K*N),s=new Float64Array(2);for(let e=0;e<K;e++)for(let i=0;i<N;i++)s[0]=V[0]+i/(N-1)*6,s[1]=
at[1]-e/(K-1)*4,t[e*N+i]=this.loss.both(s,null);return t}paintRelief(t,s){let e=this.heights(),i=E(),a=Math.min(...e),r=e.map(c=>{let f=(c-a)/
this.top;return f<1?.75*f:1-.25/f}),o=x("canvas",{width:N,height:K}),h=o.getContext("2d"),l=h.createImageData(N,K);for(let c=0;c<K;c++)for(let f=0;f<
N;f++){let m=c*N+f,u=r[c*N+Math.min(N-1,f+1)]-r[c*N+Math.max(0,f-1)],b=r[Math.min(K-1,c+1)*N+f]-r[Math.max(0,c-1)*N+f],y=Math.max(-.22,Math.
min(.14,1.7*(-u-b)));for(let v=0;v<3;v++)l.data[4*m+v]=(i.low[v]+(i.high[v]-i.low[v])*r[m])*(1+y);l.data[4*m+3]=255}h.putImageData(l,0,0);let{
dense:d}=this.board,p=x("canvas",{width:t*d,height:s*d}),g=p.getContext("2d");g.imageSmoothingQuality="high",g.drawImage(o,0,0,t*d,s*d),g.scale(
t*d/(N-1),s*d/(K-1)),g.strokeStyle=W()?"rgba(255,255,255,.13)":"rgba(60,70,80,.2)";for(let c=1;c<=14;c++)g.lineWidth=(N-1)/t*(c%4?.8:1.4),dt(
g,lt(r,K,N,c/15),K,N,N-1,K-1);this.relief={whole:p,width:t,height:s,dark:W(),low:a}}drawMass(t,s,e,i,a){this.density??=this.massOf(i,a),t.strokeStyle=
E().truth,this.density.forEach((r,o)=>{t.lineWidth=o?1.4:2.4,dt(t,r,K,N,s,e)})}massOf(t,s){let e=this.heights(),i=Math.min(...e),a=e.map((l,d)=>{
let p=V[0]+d%N/(N-1)*6,g=at[1]-Math.floor(d/N)/(K-1)*4;return Math.exp(-(l-i)/t-.5*(p*p+g*g)/s**2)}),r=Array.from(a).sort((l,d)=>d-l),o=r.reduce(
(l,d)=>l+d,0);return[.5,.95].map(l=>{let d=0;return r.find(p=>(d+=p)>=l*o)}).map(l=>lt(a,K,N,l))}};var ts=[.01,.02,.05,.1,.2,.5,1],ss=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],le=12,de=6;function Y(n,{method:t,q:s,members:e}){return Z[t]?Ft(n,s):e.reduce(
(i,a)=>i+n.both(a,null),0)/e.length}var Ss=(n,t,s={})=>({method:n,q:ht(t.q),members:t.members(40,[]),lost:!t.finite,...s});function es(n,t){
let s=!1,e=()=>{let i=performance.now()+le;for(;!s&&n.length&&performance.now()<i;)n.shift()();s||(n.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var zt=class{constructor(t,s,{T:e,radius:i},a){Object.assign(this,{loss:t,vi:[],sabma:[],ghost:null});let r=(h,l)=>()=>{let d=s(
h===this.vi?"vi":"sabma",l);d.lost||h.push({...d,...l,train:Y(t,d)})},o=[...ts.map(h=>r(this.vi,{T:h,radius:0})),...ss.map(h=>r(this.sabma,{
T:e,radius:h}))];this.stop=es(o,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===i),s),a()})}vi;sabma;ghost;loss;find(t,s){let e=t&&this.
vi.findIndex((r,o)=>o&&(r.train-t.train)*(this.vi[o-1].train-t.train)<=0);if(!(e>0))return null;let[i,a]=[this.vi[e-1],this.vi[e]];for(let r=0;r<
de;r++){let o=Math.sqrt(i.T*a.T),h=s("vi",{T:o,radius:0}),l={...h,T:o,train:Y(this.loss,h)};(l.train-t.train)*(i.train-t.train)<=0?a=l:i=l}return[
i,a].reduce((r,o)=>Math.abs(o.train-t.train)<Math.abs(r.train-t.train)?o:r)}draw(t,s,e,i,{T:a,radius:r}){let o=E(),h=[["vi",this.vi,u=>u.T===
a,"T"],["sabma",this.sabma,u=>u.radius===r,"radius"]];k(t,"training loss → against test loss ↑, each after a whole run",2,10,{color:o.soft,
size:12.5,halo:!1});let l=u=>[u.train,Y(i,u)],d=[...this.vi,...this.sabma].map(l);if(!d.length)return;let p=u=>{let b=d.map(M=>M[u]),y=Math.
min(...b),v=Math.max(...b),w=Math.max(.08*(v-y),.02);return[y-w,v+w]},[g,c]=[p(0),p(1)],f=u=>44+(s-70)*(u-g[0])/(g[1]-g[0]),m=u=>e-24-(e-58)*
(u-c[0])/(c[1]-c[0]);t.strokeStyle=o.line,t.beginPath(),t.moveTo(44,30),t.lineTo(44,e-20),t.lineTo(s-4,e-20),t.stroke(),g.forEach((u,b)=>k(t,
T(u),f(u),e-9,{color:o.soft,size:12,align:b?"right":"left"}));for(let u of c)k(t,T(u),40,m(u),{color:o.soft,size:12,align:"right"});for(let[
u,b,y,v]of h){let w=S(u);t.strokeStyle=t.fillStyle=w,t.lineWidth=1.6,t.beginPath();for(let F of b)t.lineTo(f(l(F)[0]),m(l(F)[1]));t.stroke();
for(let F of b){let[C,U]=l(F);t.beginPath(),t.arc(f(C),m(U),2.6,0,7),t.fill()}for(let F of b.filter(y)){let[C,U]=l(F);st(t,I(u)[3],f(C),m(U),
6,w)}let M=b.at(-1);if(M){let[F,C]=l(M);k(t,`${I(u)[0]}, larger ${v}`,Math.min(f(F)+8,s-4),m(C)+(m(C)>e/2?14:-12),{color:w,size:12,align:f(F)>
s/2?"right":"left"})}}if(this.ghost){let[u,b]=l(this.ghost);t.strokeStyle=S("vi"),t.setLineDash([2,3]),t.lineWidth=2,t.beginPath(),t.arc(f(u),
m(b),10,0,7),t.stroke(),t.setLineDash([]),k(t,`T* = ${T(this.ghost.T)}`,f(u)+14,m(b)+4,{color:S("vi"),size:12})}}};function Ts(n,t,s,e){let i=E(),
a=e.flatMap(({values:g})=>g).filter(Number.isFinite),r=Math.min(...a),o=Math.max(...a,r+.05),h=Math.max(12,Math.round(t/22)),l=g=>4+g*(t-8)/
h,d=(s-44)/e.length,p=(t-8)/h-2;k(n,`test loss of ${e[0].values.length} seeds, a block each`,2,10,{color:i.soft,size:12.5,halo:!1}),e.forEach(
({method:g,values:c,where:f},m)=>{let u=new Array(h).fill(0),b=26+(m+1)*d;c.filter(Number.isFinite).forEach(v=>{u[Math.min(h-1,Math.floor((v-
r)/(o-r)*h))]+=1});let y=Math.min(9,(d-18)/Math.max(...u,1));n.fillStyle=S(g),u.forEach((v,w)=>{for(let M=0;M<v;M++)n.fillRect(l(w),b-(M+1)*
y,p,y-1)}),k(n,`${I(g)[0]}: ${f}`,t-4,b-d+10,{color:S(g),size:12,align:"right"}),n.fillStyle=i.line,n.fillRect(4,b,t-8,1)}),[r,o].forEach((g,c)=>k(
n,T(g),c?t-4:4,s-8,{color:i.soft,size:12,align:c?"right":"left"}))}var J=600,ce=60,$s=6,As=3,xt=.4,is=20,Es=.3,fe=[0,.1,.2,.3,.4,.6,.8,1],Ls=[0,.1,.2,.4],Is=.02,pe={gd:"",sam:"SAM: sharpness-aware minimisati\
on, lowers the worst loss near one weight vector",vi:"VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: \
sharpness-aware Bayesian model averaging, lowers the loss of the worst q′ within the radius of q",sgld:"SGLD: stochastic gradient Langevin\
 dynamics, takes gradient steps with noise; its trail samples the posterior",hmc:"HMC: Hamiltonian Monte Carlo, rolls a ball over the loss; \
the places where its runs end sample the posterior"},qs=[-1.2816,-.5244,0,.5244,1.2816],Os=qs.flatMap(n=>qs.map(t=>Float64Array.of(n,t))),as={
hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,terms:[{kind:"dent",at:[-.7,
0],depth:1.1,width:.28},{kind:"dent",at:[1.4,.1],depth:1,width:1.1},{kind:"bowl",at:[1,0],h:.06}],places:[["narrow hollow",[-.7,0],.5],["wid\
e meadow",[1.4,.1],1.4]],about:"Both start at the same place with the same noise. VI lowers the loss that it expects under q, its cloud of w\
eights; SA-BMA looks for the worst cloud q′ within the radius first, and lowers the loss there. The hollow lies on the way to the meadow and\
 is a little deeper: this ground was chosen because the difference is plainest here."},ravine:{label:"a bent ravine",start:[-1.9,1.3],std:.25,
T:.05,radius:1,rho:.3,rate:.05,top:3,terms:[{kind:"valley",k:5,a:.45,b:-1},{kind:"bowl",at:[1.6,.2],h:.3}],places:[["end of the ravine",[1.6,
.1],.7]],about:"The ravine leads every method the same way. The radius matters on the way: across the ravine steep walls cut the ball short,\
 and q stays narrow there."},ridge:{label:"a ridge between two valleys",start:[-.05,1.1],std:.25,T:.05,radius:1,rho:.3,rate:.05,top:1.6,terms:[
{kind:"dent",at:[0,0],depth:-1,width:[.35,2.5]},{kind:"bowl",at:[0,0],h:.16}],places:[["west valley",[-.8,0],.8],["east valley",[.8,0],.8]],
about:"The two valleys mirror each other, and q starts on the ridge: noise decides. Press 20 seeds and count."},plateau:{label:"a plateau wi\
th one hollow",start:[-1.3,.5],std:.35,T:.05,radius:1,rho:.5,rate:.2,top:.5,terms:[{kind:"dent",at:[1.1,0],depth:1,width:.55},{kind:"bowl",at:[
0,0],h:.03}],places:[["hollow",[1.1,0],.6],["plateau",[-1,0],.9]],about:"Where the loss is nearly flat its gradient is nearly zero, and the \
prior has the say: q widens until a draw meets the hollow."},modes:{label:"two modes: a counter-example",start:[-.5,0],std:.5,T:.1,radius:2,
rho:.5,rate:.05,top:6,terms:[{kind:"modes",a:[-1.6,0],b:[1.6,0],narrow:.3,ratio:3}],places:[["narrow mode",[-1.6,0],.55],["ridge",[-.6,0],.45],
["wide mode",[1.6,0],1.3]],about:"Flatter is not what a large radius always finds. Two modes of equal depth: VI and SA-BMA at radius 0.5 rea\
ch the wide one from here, at radius 2 most runs do not. The ascent carries q′ over the ridge into the other basin, and the gradient there, \
the steeper one, holds q on the ridge. The arrows below the section show where each method moves the mean. Press 20 seeds."},yours:{label:"y\
ours: push it into shape",start:[-1.5,.6],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.2,terms:[{kind:"bowl",at:[.6,0],h:.1}],places:[],about:"\
Press on the ground to push it down or up, then play."}},Dt=class{seed;on;still;start;steps;records;radiusSlider;rhoSlider;TSlider;rateSlider;drawsSlider;shiftSlider;bendSlider;constructor(t={}){
Object.assign(this,{seed:1,draws:10,on:new Set(["vi","sabma"]),chosen:"sabma",truth:!1,tool:"start",shadows:[],ends:[],still:[],shift:[Es,0],
bend:0,records:new Map}),this.training=new St((s,e,i,a,r)=>this.drawTraining(s,e,i,a,r)),this.testing=new St((s,e,i,a,r)=>this.drawTesting(s,
e,i,a,r)),this.map=this.training.board,this.section=new _((s,e,i)=>this.drawSection(s,e,i),{ratio:.56,label:"",least:230,most:300}),this.traces=
new _((s,e,i)=>this.drawTraces(s,e,i),{ratio:.8,label:"",least:230,most:300}),this.chart=new _((s,e,i)=>this.drawChart(s,e,i),{ratio:.8,label:"",
least:230,most:300}),this.build(t.link!==!1),this.choose("hollow"),t.link!==!1&&this.read(new URLSearchParams(location.search)),this.clock=new bt(
this.map.node,s=>this.frame(s)),!gt.matches&&t.autoplay!==!1&&this.play(!0)}build(t){let s=(r,...o)=>(this[`${r}Slider`]=new it(...o),this[`${r}\
Slider`].node),e=r=>(o,h)=>{this.settings[r]=o,h?(this.again(),gt.matches||this.play(!0)):(this.rest(),this.draw())};this.playButton=D("Play",
"play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.chips=x("div",{class:"pg-chips",role:"group","aria-label":"method\
s"});for(let r of Kt){let o=D("",`show or hide ${I(r)[0]}`,()=>this.toggle(r),{"data-method":r});o.append(x("i",{"aria-hidden":"true"}),I(r)[0]),
this.chips.append(o)}this.ground=pt("ground",Object.entries(as).map(([r,o])=>[r,o.label]),"hollow",r=>{this.choose(r),this.play(!gt.matches)}),
this.tools=x("div",{class:"pg-tools",role:"group","aria-label":"what the pointer does"},...[["down","push down"],["up","push up"],["start","\
move q"]].map(([r,o])=>D(o,`the pointer: ${o}`,()=>{this.tool=r,this.tell()},{"data-tool":r}))),this.score=x("div",{class:"pg-score"}),this.
verdict=x("p",{class:"pg-verdict",role:"status"}),this.about=x("p",{class:"pg-about"}),this.names=x("p",{class:"pg-about"}),this.truthButton=
D("True posterior","lay the posterior itself over the ground, computed on a grid",()=>{this.truth=!this.truth,this.tell(),this.map.draw()});
let i=(r,o,h)=>x("div",{class:"pg-grip",tabindex:0,role:"group","aria-label":o,onkeydown:l=>this.pressed(l,h)},r.node);this.pointer(this.map.
canvas),this.pointerOfTest(this.testing.board.canvas);let a=t?[D("Link","copy a link to what is shown",r=>this.share(r.target)),D("PNG","sav\
e both grounds as a picture",()=>this.picture())]:[];this.node=x("section",{class:"pg-world","aria-label":"two weights"},x("div",{class:"pg-\
maps"},i(this.map,"the training ground; arrow keys move the place where training starts",r=>this.moveStart(r)),i(this.testing.board,"the tes\
t ground; arrow keys shift it",r=>this.moveTest(this.shift.map((o,h)=>o+r[h])))),x("div",{class:"pg-first"},s("shift","shift of the test gro\
und",fe,Es,r=>this.moveTest(this.along(r)),{say:r=>Number(r)?`${r}: or drag it`:"0: the training ground"}),s("radius","radius of SA-BMA",ss,
1,e("radius"),{say:r=>r?`${r} × the width of its cloud q`:"0: the same as VI",help:"how far from q SA-BMA looks for the worst posterior, √(\
2 KL)"}),this.score),x("div",{class:"pg-row"},this.playButton,D("Step","one step of every method",()=>{this.play(!1),this.advance(1),this.shown()}),
D("Restart","the same run from its start",()=>{this.again(),this.play(!0)}),D("New seed","other noise; the last runs stay as shadows",()=>{this.
seed+=1,this.again(),this.play(!0)}),D("20 seeds","20 runs of each method: where they end, and their test loss",()=>this.many()),this.truthButton,
...a),this.verdict,this.chips,this.names,x("div",{class:"pg-sliders"},s("rho","radius of SAM",[0,.05,.1,.2,.3,.5,.8,1.2],.5,e("rho"),{say:r=>`${r}\
, a distance`}),s("T","temperature",ts,.1,e("T"),{say:r=>`T = ${r}`,help:"the weight of KL(q ‖ prior), kl_weight / N"}),s("rate","learning\
 rate",[.01,.02,.05,.1,.2],.05,e("rate")),s("draws","ensemble",[1,2,5,10,20,30],10,r=>{this.draws=r,this.shown()},{say:r=>`${r} draw${r>1?"s":
""}`}),s("bend","bend of the test ground",Ls,0,r=>{this.bend=r,this.moveTest(this.shift)})),x("div",{class:"pg-boards"},this.section.node,this.
traces.node,this.chart.node),x("div",{class:"pg-under"},this.ground,this.tools,this.about))}choose(t){this.name=t;let s=this.world=as[t];this.
terms=s.terms.map(e=>({...e})),this.settings={radius:s.radius,rho:s.rho,T:s.T,rate:s.rate};for(let e of["radius","rho","T","rate"])this[`${e}\
Slider`].value=s[e];this.start=[...s.start],this.tool=t==="yours"?"down":"start",this.shadows=[],this.reground(),this.again(!1)}reground(){this.
loss=hs(this.terms),this.training.lay(this.loss,this.world.top),this.retest()}retest(){this.test=ls(this.loss,this.shift,this.bend),this.testing.
lay(this.test,this.world.top)}along(t){let s=Math.hypot(...this.shift);return s?this.shift.map(e=>e/s*t):[t,0]}moveTest(t){this.shift=t.map(
s=>Math.max(-1,Math.min(1,s))),this.shiftSlider.value=Math.hypot(...this.shift),this.shiftSlider.text.textContent=this.shiftSlider.say(T(Math.
hypot(...this.shift))),this.retest();for(let[s,e]of this.runs??[])e.test=e.stands.map(i=>Y(this.test,{method:s,...i}));this.shown(!0)}get query(){
let{name:t,seed:s,shift:e,bend:i,settings:{radius:a,rho:r,T:o,rate:h}}=this;return new URLSearchParams({ground:t,on:[...this.on].join(),radius:a,
rho:r,T:o,rate:h,seed:s,shift:e.map(l=>Number(l.toFixed(2))).join(),bend:i})}read(t){Object.hasOwn(as,t.get("ground")??"")&&(this.choose(t.get(
"ground")),this.ground.querySelector("select").value=this.name);let s=(t.get("on")??"").split(",").filter(a=>Kt.includes(a)),e=a=>t.has(a)?Number(
t.get(a)):NaN;s.length&&(this.on=new Set(s));for(let a of["radius","rho","T","rate"])this[`${a}Slider`].stops.includes(e(a))&&(this.settings[a]=
this[`${a}Slider`].value=e(a));Number.isInteger(e("seed"))&&(this.seed=e("seed")),Ls.includes(e("bend"))&&(this.bend=this.bendSlider.value=e(
"bend"));let i=(t.get("shift")??"").split(",").map(Number);this.again(!1),t.has("shift")&&i.length===2&&i.every(Number.isFinite)?this.moveTest(
i):this.moveTest(this.shift)}share(t){let s=new URL(`?${this.query}`,location.href).href;history.replaceState(null,"",`?${this.query}${location.
hash}`),Promise.resolve(navigator.clipboard?.writeText(s)).then(()=>{t.textContent="Copied"},()=>{t.textContent="In the address"}),setTimeout(
()=>{t.textContent="Link"},2e3)}async picture(){let{canvas:t}=this.map,{canvas:s}=this.testing.board,e=26*this.map.dense,i=x("canvas",{width:t.
width+s.width+12,height:t.height+e}),a=i.getContext("2d");a.fillStyle=E().paper,a.fillRect(0,0,i.width,i.height),a.drawImage(t,0,0),a.drawImage(
s,t.width+12,0),k(a,`${this.comparison()} ${this.ghostly()}`,6,t.height+e/2,{size:13*this.map.dense,halo:!1}),Ms(i.toDataURL("image/png"),`f\
latviz-${this.name}.png`)}toggle(t){this.on.has(t)&&this.on.size>1?this.on.delete(t):(this.on.add(t),this.chosen=t),this.again(!1),gt.matches||
this.play(!0)}tell(){for(let s of this.chips.children){let{method:e}=s.dataset;s.setAttribute("aria-pressed",this.on.has(e)),s.style.setProperty(
"--method",S(e))}for(let s of this.tools.children)s.setAttribute("aria-pressed",s.dataset.tool===this.tool);this.tools.hidden=this.name!=="y\
ours",this.rhoSlider.node.hidden=!this.on.has("sam"),this.truthButton.setAttribute("aria-pressed",this.truth),this.radiusSlider.node.hidden=
!this.on.has("sabma"),this.about.textContent=this.world.about;let t=[...this.on].some(s=>Z[s])?"q: a method's cloud of weights, the dots are\
 draws from it":"";this.names.textContent=[...[...this.on].map(s=>pe[s]),t].filter(Boolean).join(". ")+"."}play(t){t&&this.steps>=J&&this.again(),
this.clock.play(t),this.tell(),this.playButton.textContent=t?"Pause":"Play",t||this.halted(),!t&&this.steps>=J&&this.compareT()}halted(){for(let t of this.
still)t(this)}prior(){let t=Math.log(As);return{mean:Float64Array.of(0,0),logStd:Float64Array.of(t,t)}}from(){let t=Math.log(this.world.std);
return{mean:Float64Array.from(this.start),logStd:Float64Array.of(t,t)}}learner(t,s,e={}){let{radius:i,rho:a,T:r,rate:o}={...this.settings,...e},
h={T:r,rate:o,momentum:0,draws:4,radius:t==="sam"?a:i};return new ut(t,this.loss,this.prior(),this.from(),h,s)}rest(t=!0){if(t&&this.steps>60)
for(let[e,i]of this.runs)this.shadow(e,i.trail);this.steps=0,this.training.density=null,this.giveUp?.(),this.sweep?.stop(),Object.assign(this,
{sweep:null,ends:[]}),this.runs=new Map([...this.on].map(e=>[e,{learner:this.learner(e,this.seed),trail:[[...this.start]],x:[],stands:[],train:[],
test:[],lambda:[],kl:[],lost:!1}]));let s=new et(99);this.noise=Array.from({length:30},()=>s.normals(2)),this.drifts=null,this.tally="",this.
measure()}again(t=!0){this.rest(t),this.shown(),this.halted()}shadow(t,s){this.shadows.push([t,s]),this.shadows.length>80&&this.shadows.shift()}advance(t){
for(let s=0;s<t&&this.steps<J;s++){this.steps+=1;for(let[e,i]of this.runs)i.lost||e==="hmc"&&this.steps%$s||(i.learner.step(),i.lost=!i.learner.
finite,i.lost||i.trail.push([...i.learner.q.mean]));this.steps%4===0&&this.measure()}this.steps%24<t&&(this.drifts=null)}measure(){for(let[t,
s]of this.runs)if(!s.lost){let e=this.measured(t,s.learner);s.x.push(this.steps);for(let i of["stands","train","test","lambda","kl"])s[i].push(
e[i])}}measured(t,{q:s,prior:e,kept:i}){let{loss:a}=this,[{value:r}]=wt(a,s.mean,1),o={q:{mean:s.mean.slice(),logStd:s.logStd.slice()},members:Nt[t]&&
i.length?i.slice(-this.draws):[s.mean.slice()]},h=l=>Y(l,{method:t,...o});return{stands:o,train:h(a),test:h(this.test),lambda:r,kl:Z[t]?qt(s,
e).value:NaN}}frame(t){this.due=(this.due??0)+t*ce;let s=Math.min(6,Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&(this.advance(s),
this.shown()),this.steps>=J&&this.play(!1)}whereIs(t){let s=this.placeOf(t),e=Float64Array.from(t),i=new Float64Array(2);if(s?.endsWith("rid\
ge"))return`on the ${s}`;for(let r=0;r<80;r++)this.loss.both(e,i.fill(0)),e[0]-=.05*i[0],e[1]-=.05*i[1];let a=this.placeOf(e);return a?`in t\
he ${a===s?"":"basin of the "}${a}`:""}placeOf([t,s]){return this.world.places.find(([,[e,i],a])=>Math.hypot(t-e,s-i)<a)?.[0]}whole(t,s,e={}){
let i=this.learner(t,s,e),a=t==="hmc"?J/$s:J;for(let r=0;r<a&&i.finite;r++)i.step();return Ss(t,i)}many(){this.play(!1),this.giveUp?.(),this.
shadows=[];let t=[],s=[...this.on].flatMap(e=>Array.from({length:is},(i,a)=>()=>t.push(this.whole(e,a+1))));this.tally=`${is} seeds run …`,
this.giveUp=es(s,()=>{this.ends=t,this.tally=`${is} seeds end here. ${[...this.on].map(e=>`${I(e)[0]}: ${this.whereEnd(e)}`).join("; ")}. ${this.
comparison()}`,this.shown(!0)}),this.shown(!0)}whereEnd(t){let s=new Map;for(let e of this.ends.filter(i=>i.method===t)){let i=e.lost?"diver\
ged":this.placeOf(e.q.mean)??"elsewhere";s.set(i,(s.get(i)??0)+1)}return[...s].sort((e,i)=>i[1]-e[1]).map(([e,i])=>`${i} ${e}`).join(", ")}compareT(){
if(this.sweep||!this.on.has("vi")||!this.on.has("sabma"))return;let{T:t,radius:s}=this.settings;this.sweep=new zt(this.loss,(e,i)=>this.whole(
e,this.seed,i),{T:t,radius:s},()=>this.shown(!0))}near(t){let[s,e]=Tt(this.map.canvas,t),i=this.map.width/(V[1]-V[0]);return[this.start,...[
...this.runs.values()].map(a=>a.learner.q.mean)].some(([a,r])=>Math.hypot(s-a,e-r)*i<44)}pointer(t){let s=!1,e=a=>{let r=Tt(t,a);this.tool===
"start"?(this.start=r.map((o,h)=>Math.max([V,at][h][0]+.1,Math.min([V,at][h][1]-.1,o))),this.rest(!1)):this.push(r),this.shown()};t.addEventListener(
"touchstart",a=>{(this.tool!=="start"||this.near(a.touches[0]))&&a.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",a=>{a.pointerType===
"touch"&&this.tool==="start"&&!this.near(a)||(s=!0,t.setPointerCapture(a.pointerId),this.play(!1),e(a))}),t.addEventListener("pointermove",a=>{
s&&e(a)});let i=()=>{s&&(s=!1,this.again(!1))};t.addEventListener("pointerup",i),t.addEventListener("pointercancel",i)}pointerOfTest(t){let s=null;
t.addEventListener("pointerdown",e=>{s=Tt(t,e).map((i,a)=>i-this.shift[a]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermov\
e",e=>{s&&this.moveTest(Tt(t,e).map((i,a)=>i-s[a]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}push([t,s]){
let e=this.tool==="down"?1:-1,i=this.terms.find(a=>a.kind==="dent"&&a.width===.32&&Math.hypot(a.at[0]-t,a.at[1]-s)<.16);i?i.depth=Math.max(-1.5,
Math.min(1.5,i.depth+.06*e)):this.terms.push({kind:"dent",at:[t,s],depth:.1*e,width:.32}),this.reground(),this.rest(!1)}pressed(t,s){let e={
ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]}[t.key];e&&(t.preventDefault(),s(e))}moveStart([t,s]){this.play(!1),this.
tool==="start"&&(this.start=[this.start[0]+t,this.start[1]+s]),this.again(!1)}recolor(){this.tell(),this.draw(!0)}draw(t=!this.clock?.playing){
this.drawn=(this.drawn??0)+1,this.map.draw(),this.testing.board.draw(),(t||this.drawn%3===1)&&this.section.draw(),(t||this.drawn%6===0)&&(this.
traces.draw(),this.chart.draw())}shown(t=!1){this.clock?.playing||this.tell(),this.draw(),(t||this.steps%4===0)&&this.tellScore();let s=this.
tally||this.sentence();(t||!this.clock?.playing||this.steps>=J||this.steps%12===0)&&(this.verdict.textContent=s,this.map.say(`${this.world.label}\
, seen from above. ${s}`),this.section.say(`Section of the ground through the mean of ${I(this.chosen)[0]}, with the posteriors above it.`),
this.traces.say(`Against steps: ${[...this.runs].map(([e,i])=>`${I(e)[0]}: training loss ${T(i.train.at(-1))}, test loss ${T(i.test.at(-1))}\
, λ₁ ${T(i.lambda.at(-1))}, KL ${T(i.kl.at(-1))}`).join("; ")}.`),this.testing.board.say(`The test ground: the training ground shifted by\
 ${T(Math.hypot(...this.shift))}${this.bend?` and bent by ${this.bend}`:""}. ${this.comparison()}`),this.chart.say(this.ends.length?this.tally:
`Training loss against test loss, VI over temperatures and SA-BMA over radii. ${this.ghostly()}`))}ranking(t){let s=e=>{let i=this.ends.filter(
o=>o.method===e&&!o.lost),{stands:a,lost:r}=this.runs.get(e);return i.length?i.reduce((o,h)=>o+Y(t,h),0)/i.length:r?NaN:Y(t,{method:e,...a.at(
-1)})};return[...this.on].map(e=>({method:e,name:I(e)[0],loss:s(e)})).filter(({loss:e})=>Number.isFinite(e)).sort((e,i)=>e.loss-i.loss)}comparison(){
let[t,s]=this.ranking(this.test),[e,i]=this.ranking(this.loss),a=Math.hypot(...this.shift)+this.bend>0;if(!s)return t?`Test loss of ${t.name}\
: ${t.loss.toFixed(2)}.`:"";let r=(h,l)=>l.loss-h.loss<Is?`${h.name} and ${l.name} are even`:`${h.name} wins by ${(l.loss-h.loss).toFixed(2)}`,
o=this.steps<J&&!this.ends.length?"So far, on":"On";return a?`${o} the test ground ${r(t,s)}; not shifted, ${r(e,i)}.`:`Not shifted, ${r(t,s)}\
: drag the test ground.`}ghostly(){let{sweep:t,settings:{T:s}}=this,{ghost:e}=t??{};if(!e)return"";let i=t.sabma.find(r=>r.radius===this.settings.
radius),a=Y(this.test,e)-Y(this.test,i);return`At temperature T* = ${T(e.T)} instead of T = ${s}, VI has SA-BMA's training loss (blue dashed\
 ring), and its test loss is ${Math.abs(a)<Is?"the same":`${Math.abs(a).toFixed(2)} ${a>0?"higher":"lower"}`}.`}tellScore(){let t=this.ranking(
this.test),s=`${this.name} ${this.query.get("shift")} ${this.bend} ${this.name==="yours"?JSON.stringify(this.terms):""}`;if(this.steps>=J&&t.
length&&!(this.records.get(s)?.loss<=t[0].loss)){let{radius:a,rho:r,T:o}=this.settings,[{method:h,name:l,loss:d}]=t;this.records.set(s,{loss:d,
by:`${l}${h==="sabma"?`, radius ${a}`:h==="sam"?`, radius ${r}`:""}, T = ${o}`})}let e=this.records.get(s),i=new Map(this.ranking(this.loss).
map(({method:a,loss:r})=>[a,r]));this.score.replaceChildren(x("span",{},"test loss, lower is better"),...t.map(({method:a,name:r,loss:o},h)=>x(
"span",{style:`--method:${S(a)}`,class:h?"":"pg-wins"},x("b",{},o.toFixed(2)),`${r}, training ${i.get(a).toFixed(2)}`)),x("small",{},e?`Lowe\
st here so far: ${e.loss.toFixed(2)} (${e.by}). Can you get lower?`:" "))}sentence(){if(!this.steps)return this.clock?.playing?"They start …":
"Press Play.";let t=[...this.runs].filter(([,{lost:o}])=>!o).map(([o,{learner:{q:h}}])=>({name:I(o)[0],where:this.whereIs(h.mean),cost:fs(this.
loss,h.mean,xt)-this.loss.both(h.mean,null)})),s=({name:o,where:h,cost:l})=>`${o} ${l.toFixed(2)}${h&&`, ${h}`}`,e=({name:o,where:h,cost:l})=>`${o}${h&&
` is ${h}`}: moving its center by ${xt} raises the loss by up to ${l.toFixed(2)}.`,i=t.length>2?[`Moving the center by ${xt} raises the loss\
 by at most: ${t.map(s).join("; ")}.`]:t.map(e),[a,r]=[...t].sort((o,h)=>o.cost-h.cost);r&&this.steps>=J&&i.push(a.cost<.9*r.cost?`${a.name}\
 ended flattest.`:`${a.name} and ${r.name} ended about equally flat.`),i.push(this.comparison()),this.steps>=J&&i.push(this.ghostly());for(let[
o,{lost:h}]of this.runs)h&&i.push(`${I(o)[0]} diverged: lower the learning rate or the radius.`);return i.filter(Boolean).join(" ")}drawTraining(t,s,e,i,a){
if(!this.runs)return;let r=E(),o=6*i;this.truth&&this.training.drawMass(t,o,a,this.settings.T,As),this.title(t,"training ground"),this.truth&&
k(t,"true posterior: 50 % and 95 % of its mass",10,32,{color:r.truth,weight:600});for(let[l,d,p]of this.world.places)k(t,l,s(d[0]),Math.min(
a-12,e(d[1]-p)+4),{color:r.soft,size:13,align:"center"});if(this.shadows.forEach(([l,d])=>this.drawTrail(t,d,S(l),s,e,.22)),this.drawEnds(t,
s,e))return;let{ghost:h}=this.sweep??{};h&&(t.strokeStyle=S("vi"),t.lineWidth=1.6,this.outline(t,h.q,s,e,i,[2,4]),k(t,`VI at T* = ${T(h.T)}`,
s(h.q.mean[0]),e(h.q.mean[1]+2*Math.exp(h.q.logStd[1]))-9,{color:S("vi"),size:12.5,align:"center"}));for(let l of this.runs.keys())this.drawRun(
t,l,this.runs.get(l),s,e,i);this.label(t,l=>I(l)[0],s,e,o),t.strokeStyle=r.soft,t.lineWidth=2,t.beginPath(),t.moveTo(12,a-12),t.lineTo(12+xt*
i,a-12),t.stroke(),k(t,`${xt}`,18+xt*i,a-12,{color:r.soft,size:12.5}),this.steps||(t.strokeStyle=r.ink,t.lineWidth=1.5,t.setLineDash([3,4]),
t.beginPath(),t.arc(s(this.start[0]),e(this.start[1]),24,0,7),t.stroke(),t.setLineDash([]),k(t,"drag",s(this.start[0])-29,e(this.start[1]),{
align:"right",color:r.soft,size:12.5}))}title(t,s){k(t,s,10,14,{weight:700,size:14})}drawTesting(t,s,e,i,a){if(!this.runs)return;let[r,o]=this.
shift,h=E();if(this.title(t,"test ground: drag it"),Math.hypot(r,o)>.05){let[l,[d,p]]=this.world.places[0]??["",[0,0]];t.strokeStyle=h.soft,
t.lineWidth=2,t.beginPath(),t.moveTo(s(d),e(p)+26),t.lineTo(s(d+r),e(p+o)+26),t.stroke(),t.beginPath(),t.arc(s(d+r),e(p+o)+26,3.5,0,7),t.fillStyle=
h.soft,t.fill(),k(t,`${l?`the ${l}`:"the ground"} has moved by ${T(Math.hypot(r,o))}`,10,a-12,{color:h.soft,size:12.5})}if(!this.drawEnds(t,
s,e)){for(let[l,d]of this.runs)if(!d.lost){let{q:p,members:g}=d.stands.at(-1),c=S(l),[f,m]=[s(p.mean[0]),e(p.mean[1])];if(t.fillStyle=t.strokeStyle=
c,Z[l])this.cloud(t,p,s,e,i);else for(let u of g)t.beginPath(),t.arc(s(u[0]),e(u[1]),2.4,0,7),t.fill();st(t,I(l)[3],f,m,5.5,c)}this.label(t,
(l,d)=>d.test.at(-1).toFixed(2),s,e,6*i)}}label(t,s,e,i,a){let r=[...this.runs].filter(([,o])=>!o.lost).map(([o,h])=>({method:o,text:s(o,h),
x:e(h.learner.q.mean[0]),y:i(h.learner.q.mean[1])-16})).sort((o,h)=>o.y-h.y);r.length<=3&&r.forEach((o,h)=>{for(let l of r.slice(0,h))Math.abs(
l.x-o.x)<60&&o.y-l.y<17&&(o.y=l.y+17);k(t,o.text,Math.max(8,Math.min(a-70,o.x+10)),Math.max(30,o.y),{color:S(o.method),weight:700,size:14})})}drawEnds(t,s,e){
t.globalAlpha=.55;for(let i of this.ends)i.lost||st(t,I(i.method)[3],s(i.q.mean[0]),e(i.q.mean[1]),4,S(i.method));return t.globalAlpha=1,this.
ends.length>0}outline(t,s,e,i,a,r=[]){t.setLineDash(r),t.beginPath(),t.ellipse(e(s.mean[0]),i(s.mean[1]),2*Math.exp(s.logStd[0])*a,2*Math.exp(
s.logStd[1])*a,0,0,7),t.stroke(),t.setLineDash([])}cloud(t,s,e,i,a){t.lineWidth=2,this.outline(t,s,e,i,a),t.globalAlpha=.16,t.fill(),t.globalAlpha=
1}drawTrail(t,s,e,i,a,r){t.globalAlpha=r,t.strokeStyle=t.fillStyle=e,t.lineWidth=1.6,t.beginPath();for(let[h,l]of s)t.lineTo(i(h),a(l));t.stroke();
let o=s.at(-1);t.globalAlpha=Math.min(1,2*r),t.beginPath(),t.arc(i(o[0]),a(o[1]),3,0,7),t.fill(),t.globalAlpha=1}drawRun(t,s,{learner:e,trail:i},a,r,o){
let h=S(s),{q:l,last:d}=e,[p,g]=[a(l.mean[0]),r(l.mean[1])];if(s==="sgld"||s==="hmc"?(this.drawTrail(t,i.slice(-160),h,a,r,s==="hmc"?.08:.3),
d?.path&&this.drawTrail(t,d.path,h,a,r,.4)):this.drawTrail(t,i,h,a,r,.75),t.fillStyle=t.strokeStyle=h,Z[s]&&(this.cloud(t,l,a,r,o),s==="sabm\
a"&&d?.there)){t.lineWidth=1.4,this.outline(t,d.there,a,r,o,[4,4]),t.beginPath(),t.moveTo(p,g),t.lineTo(a(d.there.mean[0]),r(d.there.mean[1])),
t.stroke();let c=r(d.there.mean[1])-2*Math.exp(d.there.logStd[1])*o-9;k(t,o<80?"worst q′":"q′, worst in the radius",Math.max(76,Math.min(
6*o-76,a(d.there.mean[0]))),Math.max(34,c),{color:h,size:12.5,align:"center"})}if(s==="sam"&&d?.e&&this.steps<J&&(t.lineWidth=1.5,t.beginPath(),
t.arc(a(d.from[0]),r(d.from[1]),this.settings.rho*o,0,7),t.setLineDash([4,4]),t.stroke(),t.setLineDash([]),t.beginPath(),t.moveTo(p,g),t.lineTo(
a(d.from[0]+d.e[0]),r(d.from[1]+d.e[1])),t.stroke()),s!=="gd"&&s!=="sam"){t.fillStyle=h,t.globalAlpha=.8;for(let c of e.members(this.draws,this.
noise))t.beginPath(),t.arc(a(c[0]),r(c[1]),2.4,0,7),t.fill();t.globalAlpha=1}st(t,I(s)[3],p,g,5.5,h)}driftOf(t,s,e){let i=Array.from({length:25},
(h,l)=>V[0]+.25*l),{q:a,prior:r,settings:o}=s;return i.map(h=>{let l={mean:Float64Array.of(h,e),logStd:a.logStd};if(!Z[t])return[h,-Ht(this.
loss,l.mean.slice(),new Float64Array(2),r,{...o,rate:1,radius:t==="sam"?o.radius:0}).there[0]];let d=nt(this.loss,l,Os),p=t==="sabma"&&o.radius?
nt(this.loss,Ut(l,d,o.radius).there,Os):d;return[h,-p.mean[0]-o.T*qt(l,r).mean[0]]})}drawSection(t,s,e){if(!this.runs)return;let i=E(),a=this.
runs.get(this.chosen)??this.runs.values().next().value,r=a.learner.q.mean[1],o=[...this.runs.keys()].filter(f=>!Nt[f]),h=17*o.length,l=e-h-8,
d=1.3*this.world.top,p=this.training.low-.1*d,g=f=>(f-V[0])/6*s,c=f=>l-(l-40)*Math.min(1,(f-p)/d);t.beginPath(),t.moveTo(0,l);for(let f=0;f<=
240;f++)t.lineTo(s*f/240,c(this.loss.both([V[0]+f/40,r],null)));t.lineTo(s,l),t.fillStyle=`rgb(${i.high.join()})`,t.globalAlpha=.75,t.fill(),
t.globalAlpha=1,t.lineWidth=1.5,t.strokeStyle=i.soft,t.stroke(),k(t,"loss along w₁, cut through the mean",2,10,{color:i.soft,size:12.5,halo:!1}),
k(t,"arrows: where a step moves the mean",2,25,{color:i.soft,size:12.5});for(let[f,{learner:m}]of this.runs){let{q:u}=m,b=S(f),y=g(u.mean[0]),
v=this.loss.both([u.mean[0],r],null);if(Z[f]){let w=Math.exp(u.logStd[0]),M=Ft(this.loss,u);t.strokeStyle=b,t.lineWidth=3,t.beginPath(),t.moveTo(
g(u.mean[0]-2*w),c(M)),t.lineTo(g(u.mean[0]+2*w),c(M)),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(y,c(M)),t.lineTo(y,c(v)),t.stroke()}
st(t,I(f)[3],y,c(v),4.5,b)}this.drifts??=o.map(f=>[f,this.driftOf(f,this.runs.get(f).learner,r)]),this.drifts.forEach(([f,m],u)=>{let b=l+14+
17*u;t.fillStyle=S(f);for(let[y,v]of m){let w=4*Math.tanh(Math.abs(v)*4)+1,M=Math.sign(v);t.beginPath(),t.moveTo(g(y)+M*w,b),t.lineTo(g(y)-M*
w,b-w),t.lineTo(g(y)-M*w,b+w),t.fill()}})}drawTraces(t,s,e){if(!this.runs)return;let i=[["loss: training thin, test thick","test"],["λ₁, sha\
rpest curvature at the mean","lambda"],["KL(q ‖ prior), in nats","kl"]],a=[.46,.27,.27].map(r=>r*e);i.forEach(([r,o],h)=>{let l=[...this.runs].
flatMap(([d,p])=>{let g=(c,f)=>({color:S(d),x:p.x,y:c,...f});return o==="test"?[g(p.train,{thin:!0}),g(p.test)]:[g(p[o])]});Ct(t,0,a.slice(0,
h).reduce((d,p)=>d+p,0),s,a[h]-6,r,l.filter(d=>d.y.some(Number.isFinite)),{most:J})})}drawChart(t,s,e){this.runs&&(this.ends.length?Ts(t,s,e,
[...this.on].map(i=>({method:i,where:this.whereEnd(i),values:this.ends.filter(a=>a.method===i).map(a=>a.lost?NaN:Y(this.test,a))}))):this.sweep?
this.sweep.draw(t,s,e,this.test,this.settings):k(t,"at the end: temperature beside radius",2,10,{color:E().soft,size:12.5,halo:!1}))}};var ge={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{radius:1,kappa:1}};function Ps(n,t={}){let s=x(
"div",{class:"pg"});ns(s),s.append(x("style",{},vs));let e=new URLSearchParams(t.link===!1?"":location.search),i=e.has("embed"),a={},r=t.worlds??
["weights","step","network","gap"],o=new Set(i?r.slice(0,1):r);document.documentElement.classList.toggle("pg-embedded",i);let h=(p,g,c)=>s.append(
x("h2",{},p),...g.map(f=>x("p",{},f)),c);(o.has("weights")||o.has("step"))&&(a.weights=new Dt(t),h("Train on one ground, be tested on anothe\
r",[],a.weights.node));let l=()=>{o.has("step")&&(a.step=new jt(a.weights),h("One step of SA-BMA",["From where SA-BMA stands above, whenever\
 the run above rests."],a.step.node)),o.has("network")&&(a.network=new kt(t),h("A network of about fifty weights",["The same two trainings, \
of a network. Flat shows as wide rings of the loss around the draws. On spirals the flatter training mostly has the lower test loss as well;\
 on the moons it is a matter of the seed. Click on a picture to add a point."],a.network.node)),o.has("gap")&&(a.gap=new kt({...t,...ge}),h(
"A regression with a gap",["No points lie in the middle, so an honest answer is unsure there. HMC draws from the exact posterior, if it runs\
 long enough: its band is narrow at the points and wide between them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands a\
re too wide at the points and widen less in the middle."],a.gap.node)),s.playground=a},d=()=>{s.dataset.theme=W()?"dark":"light";for(let p of Object.
values(a))p.recolor()};return n.replaceChildren(s),d(),a.weights?setTimeout(l,50):l(),os(d)}var me={render:({model:n,el:t})=>Ps(t,{worlds:n.
get("worlds"),autoplay:!1,link:!1})};return Ws(ue);})();
