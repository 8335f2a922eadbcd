var flatvizPlayground=(()=>{var ws=Object.defineProperty;var _e=Object.getOwnPropertyDescriptor;var He=Object.getOwnPropertyNames;var Ue=Object.prototype.hasOwnProperty;var Ye=(i,t)=>{for(var s in t)ws(i,s,{get:t[s],enumerable:!0})},Ve=(i,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let o of He(
t))!Ue.call(i,o)&&o!==s&&ws(i,o,{get:()=>t[o],enumerable:!(e=_e(t,o))||e.enumerable});return i};var Xe=i=>Ve(ws({},"__esModule",{value:!0}),i);var zo={};Ye(zo,{default:()=>Do,mount:()=>je});function U(){let{body:i,documentElement:t}=document;return i.dataset.jpThemeLight?i.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Ps(i){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(i);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",i),()=>{
s.disconnect(),t.removeEventListener("change",i)}}function Cs(i){i.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return i.addEventListener("keydown",t),()=>i.removeEventListener("keydown",t)}var tt=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},Y=(i,t)=>{let s=0;for(let e=0;e<i.length;e++)
s+=i[e]*t[e];return s},nt=i=>Math.sqrt(Y(i,i)),j=(i,t,s=1)=>i.map((e,o)=>e+s*t[o]),I=i=>new Float64Array(i),Fs=1e-12;var Ke={bowl:({at:[i,t],h:s},e,o,r)=>(r[0]+=s*(e-i),r[1]+=s*(o-t),.5*s*((e-i)**2+(o-t)**2)),dent:({at:[i,t],depth:s,width:e},o,r,n)=>{let[a,
h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*(((o-i)/a)**2+((r-t)/h)**2));return n[0]+=l*(o-i)/(a*a),n[1]+=l*(r-t)/(h*h),-l},valley:({k:i,a:t,
b:s},e,o,r)=>{let n=o-t*e*e-s;return r[0]-=2*i*n*t*e,r[1]+=i*n,.5*i*n*n},wall:({at:i,height:t,soft:s},e,o,r)=>{let n=Math.tanh((e-i)/s);return r[0]+=
t*(1-n*n)/(2*s),.5*t*(1+n)},modes:({a:i,b:t,narrow:s,ratio:e},o,r,n)=>{let a=s*e,h=((o-i[0])**2+(r-i[1])**2)/(2*s**2),l=((o-t[0])**2+(r-t[1])**
2)/(2*a**2),d=Math.min(h,l),g=Math.exp(d-h),p=Math.exp(d-l),c=g/(g+p);return n[0]+=c*(o-i[0])/s**2+(1-c)*(o-t[0])/a**2,n[1]+=c*(r-i[1])/s**2+
(1-c)*(r-t[1])/a**2,d-Math.log(g+p)+Math.log(2)}},Je=I(2);function Ds(i){return{dim:2,both(t,s){let e=s??Je;e[0]=e[1]=0;let o=0;for(let r of i)
o+=Ke[r.kind](r,t[0],t[1],e);return o}}}function zs(i,[t,s],e){let o=I(2);return{dim:2,both(r,n){o[0]=r[0]-t,o[1]=r[1]-s-e*(r[0]*r[0]-1);let a=i.
both(o,n);return n&&(n[0]-=2*e*r[0]*n[1]),a}}}var Ut=class{constructor(t){this.widths=t,this.starts=[],this.dim=0;for(let s=1;s<t.length;s++)
this.starts.push(this.dim),this.dim+=t[s]*(t[s-1]+1);this.a=t.map(s=>I(s)),this.d=t.map(s=>I(s))}init(t,s=1){let e=I(this.dim);return this.starts.
forEach((o,r)=>{let n=this.widths[r+1]*(this.widths[r]+1);for(let a=0;a<n;a++)e[o+a]=s*t.normal()/Math.sqrt(this.widths[r])}),e}forward(t,s,e){
let{a:o,widths:r,starts:n}=this,a=r.length-1;for(let h=0;h<r[0];h++)o[0][h]=s[e+h];for(let h=0;h<a;h++){let l=o[h],d=o[h+1],g=r[h],p=r[h+1],
c=n[h]+g*p;for(let f=0,m=n[h];f<p;f++){let u=t[c+f];for(let b=0;b<g;b++)u+=t[m++]*l[b];d[f]=h+1<a?Math.tanh(u):u}}return o[a]}backward(t,s){
let{a:e,d:o,widths:r,starts:n}=this;for(let a=r.length-2;a>=0;a--){let h=e[a],l=o[a+1],d=o[a],g=r[a],p=r[a+1],c=n[a]+g*p;d.fill(0);for(let f=0,
m=n[a];f<p;f++){let u=l[f];s[c+f]+=u;for(let b=0;b<g;b++,m++)s[m]+=u*h[b],d[b]+=u*t[m]}if(a>0)for(let f=0;f<g;f++)d[f]*=1-h[f]*h[f]}}},Qe=.5*
Math.log(2*Math.PI);function Rs(i,{x:t,y:s,noise:e}){let o=s.length,r=i.widths[0],n=i.widths.at(-1),a=i.d.at(-1);return{dim:i.dim,both(h,l){
l&&l.fill(0);let d=0;for(let g=0;g<o;g++){let p=i.forward(h,t,g*r);if(e){let c=(p[0]-s[g])/e;d+=.5*c*c+Math.log(e)+Qe,a[0]=c/e/o}else{let c=-1/0,
f=0;for(let m=0;m<n;m++)c=Math.max(c,p[m]);for(let m=0;m<n;m++)a[m]=Math.exp(p[m]-c),f+=a[m];d+=c+Math.log(f)-p[s[g]];for(let m=0;m<n;m++)a[m]=
(a[m]/f-(m===s[g]?1:0))/o}l&&i.backward(h,l)}return d/o}}}var Mt=(i,t)=>i.mean.map((s,e)=>s+Math.exp(i.logStd[e])*t[e]),ht=i=>({mean:i.mean.slice(),logStd:i.logStd.slice()});function ct(i,t,s){let e={
value:0,mean:I(i.dim),logStd:I(i.dim)},o=I(i.dim);for(let r of s){e.value+=i.both(Mt(t,r),o)/s.length;for(let n=0;n<o.length;n++)e.mean[n]+=
o[n]/s.length,e.logStd[n]+=o[n]*Math.exp(t.logStd[n])*r[n]/s.length}return e}function Ft(i,t){let s={value:0,mean:I(i.mean.length),logStd:I(
i.mean.length)};for(let e=0;e<i.mean.length;e++){let o=Math.exp(-2*t.logStd[e]),r=i.mean[e]-t.mean[e],n=Math.exp(2*i.logStd[e])*o;s.value+=.5*
(n+r*r*o-1)+t.logStd[e]-i.logStd[e],s.mean[e]=o*r,s.logStd[e]=n-1}return s}function bs(i,t,s){let e=t.mean.map((l,d)=>Math.exp(2*i.logStd[d])*
l),o=t.logStd.map(l=>l/2),r=Y(t.mean,e),n=Math.max(r+Y(t.logStd,o),1e-300),a=s/Math.sqrt(n),h={mean:e.map(l=>a*l),logStd:o.map(l=>a*l)};return{
delta:h,share:r/n,there:{mean:j(i.mean,h.mean),logStd:j(i.logStd,h.logStd)}}}var Ze=(i,t)=>{let s=t/(nt(i)+Fs);return i.map(e=>e*s)},to=.2,Yt=.9,
Dt=i=>({mean:I(i),squares:I(i+1),filled:0});function Bs(i,t,s,e,o,{rate:r,momentum:n,T:a}){let h=Ft(i,e),l=i.mean.length,d=I(l),g=I(l),p=a||
1,c=i.logStd.map(Math.exp);for(let m=0;m<l;m++){let u=Math.exp(-2*e.logStd[m]),b=1/(c[m]*c[m]);if(d[m]=s.mean[m]/p,g[m]=s.logStd[m]/p,a)for(let v of o){
let y=u*(i.mean[m]-e.mean[m])+(u-b)*c[m]*v[m];d[m]+=y/o.length,g[m]+=y*c[m]*v[m]/o.length}}t.filled=Yt*t.filled+1-Yt;let f=t.squares.map((m,u)=>{
let b=u?g[u-1]*g[u-1]:d.reduce((v,y,x)=>v+y*y*c[x]*c[x],0);return t.squares[u]=Yt*m+(1-Yt)*b,1/(1+Math.sqrt(t.squares[u]/t.filled))});for(let m=0;m<
l;m++)t.mean[m]=n*t.mean[m]+f[0]*c[m]*c[m]*d[m],i.mean[m]-=r*t.mean[m],i.logStd[m]-=.5*to*r*f[m+1]*g[m];return h}function zt(i,t,s,e,o,r){let n=ct(
i,t,o);return{from:ht(t),g:n,pull:Bs(t,s,n,e,o,r)}}function Xt(i,t,s,e,o,r){if(r.radius===0)return zt(i,t,s,e,o,r);let n=ht(t),a=ct(i,t,o),h=bs(
t,a,r.radius),l=ct(i,h.there,o);return{from:n,g:a,...h,worst:l,pull:Bs(t,s,l,e,o,r)}}function Kt(i,t,s,e,{rate:o,momentum:r,T:n,radius:a=0}){
let h=t.slice(),l=I(t.length),d=i.both(t,l),g=a?Ze(l,a):null,p=I(t.length),c=g?i.both(j(t,g),p):(p.set(l),d);for(let f=0;f<t.length;f++)s[f]=
r*s[f]+p[f]+n*Math.exp(-2*e.logStd[f])*(t[f]-e.mean[f]),t[f]-=o*s[f];return{from:h,value:d,at:c,g:l,e:g,there:p}}function Ws(i,t,s,e,{rate:o,
T:r}){let n=I(t.length),a=i.both(t,n);for(let h=0;h<t.length;h++){let l=r*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-o*(n[h]+l)+Math.sqrt(
2*o*r)*e[h]}return{value:a,g:n}}function js(i,t,s,e){let o=I(e.length),r=i.both(Mt(t,e),o);for(let n=0;n<e.length;n++)o[n]=o[n]*Math.exp(t.logStd[n])/
s+e[n];return{value:r/s+.5*Y(e,e),slope:o,mean:r}}function so(i,t,s,e,o,r,n){let a=j(s,e.slope,-.5*o);for(let h=0;h<r;h++)t=j(t,a,o),e=i(t),
a=j(a,e.slope,h<r-1?-o:-.5*o),n?.push(t);return{z:t,momentum:a,at:e}}var Vt=class{t;error;accept;first;average;constructor(t,s=.8){this.t=0,
this.error=0,this.log=Math.log(t),this.average=Math.log(t),this.first=Math.log(t),this.accept=s}get size(){return Math.exp(this.log)}follow(t){
this.t+=1,this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=
this.t**-.75*(this.log-this.average)}settle(){this.t=0,this.error=0,this.log=this.average,this.first=this.average}};function Gs(i,t,s,e,o,r,n,{
time:a=Math.PI/2,most:h=500,path:l=void 0}={}){let d=Math.min(h,Math.ceil(o*a/n)),g=so(i,t,e,s,n,d,l),p=s.value+.5*Y(e,e)-g.at.value-.5*Y(g.
momentum,g.momentum),c=Number.isFinite(p)?Math.exp(Math.min(0,p)):0;return r<c?{z:g.z,at:g.at,rate:c,n:d,taken:!0}:{z:t,at:s,rate:c,n:d,taken:!1}}var Rt=["gd","sam","vi","sabma","sgld","hmc"],V={vi:!0,sabma:!0},dt={sgld:!0,hmc:!0},Tt=class{settings;random;loss;method;prior;steps;gradients;kept;last;z;size;constructor(t,s,e,o,r,n){
this.method=t,this.loss=s,this.prior=e,this.settings=r,this.random=new tt(n),this.steps=0,this.gradients=0,this.kept=[],this.q=ht(o),this.velocity=
Dt(s.dim),t==="hmc"&&(this.z=o.mean.map((a,h)=>(a-e.mean[h])/Math.exp(e.logStd[h])),this.size=new Vt(.1))}get finite(){return this.q.mean.every(
t=>Number.isFinite(t)&&Math.abs(t)<1e6)&&this.q.logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.
random.normals(this.loss.dim))}step(){let{method:t,loss:s,q:e,velocity:o,prior:r,settings:n}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let a=this.
noise();this.last=(t==="vi"?zt:Xt)(s,e,o,r,a,n),this.last.noise=a,this.gradients+=a.length*(this.last.worst?2:1)}else if(t==="gd"||t==="sam"){
let a=t==="sam"?n.radius:0;this.last=Kt(s,e.mean,o.mean,r,{...n,radius:a}),this.gradients+=a?2:1}else t==="sgld"?(this.last=Ws(s,e.mean,r,this.
random.normals(s.dim),n),this.gradients+=1,this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:e,
random:o}=this,r=l=>js(t,s,e.T,l),n=[],a=o.normals(t.dim),h=.5+o.uniform();this.last=Gs(r,this.z,r(this.z),a,h,o.uniform(),this.size.size,{path:n,
most:e.most??200}),this.last.path=n.map(l=>Mt(s,l)),this.z=this.last.z,this.gradients+=this.last.n,this.steps<=60&&this.size.follow(this.last.
rate),this.steps===60&&this.size.settle(),this.q.mean.set(Mt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.
push(t),this.kept.length>400&&this.kept.shift())}members(t,s){if(V[this.method])return s.slice(0,t).map(e=>Mt(this.q,e));if(dt[this.method]&&
this.kept.length){let e=Math.max(1,Math.floor(this.kept.length/2/t));return this.kept.filter((o,r)=>(this.kept.length-1-r)%e===0).slice(-t)}
return[this.q.mean]}};function eo(i,t,s){let e=.001/Math.max(nt(s),1e-300),o=l=>{let d=I(t.length);return i.both(j(t,s,l*e),d),d},[r,n,a,h]=[o(1),o(-1),o(2),o(-2)];
return r.map((l,d)=>(8*(r[d]-n[d])-(a[d]-h[d]))/(12*e))}function At(i,t,s,e=40,o=null){let r=t.length,n=Math.min(r,e),a=[],h=[],l=[],d=new tt(
0).normals(r);for(let{vector:c}of o??[])d=j(d,c,10*Math.sqrt(r));d=d.map(c=>c/nt(d));for(let c=0;c<n;c++){a.push(d);let f=eo(i,t,d);h.push(Y(
d,f));for(let u=0;u<2;u++)for(let b of a)f=j(f,b,-Y(b,f));let m=nt(f);if(c===n-1||m<1e-9)break;l.push(m),d=f.map(u=>u/m)}let g=a.length,p=Array.
from({length:g},(c,f)=>Float64Array.from({length:g},(m,u)=>f===u?h[f]:Math.abs(f-u)===1?l[Math.min(f,u)]:0));return oo(p).slice(0,s).map(({value:c,
vector:f})=>{let m=I(r);return a.forEach((u,b)=>{for(let v=0;v<r;v++)m[v]+=f[b]*u[v]}),{value:c,vector:m}})}function oo(i){let t=i.length,s=i.
map((e,o)=>Float64Array.from({length:t},(r,n)=>o===n?1:0));for(let e=0;e<40;e++){let o=0;for(let r=0;r<t;r++)for(let n=r+1;n<t;n++){if(o+=i[r][n]**
2,Math.abs(i[r][n])<1e-300)continue;let a=(i[n][n]-i[r][r])/(2*i[r][n]),h=(a>=0?1:-1)/(Math.abs(a)+Math.hypot(a,1)),l=1/Math.hypot(h,1),d=h*
l;for(let g=0;g<t;g++){let p=i[g][r],c=i[g][n];i[g][r]=l*p-d*c,i[g][n]=d*p+l*c}for(let g=0;g<t;g++){let p=i[r][g],c=i[n][g];i[r][g]=l*p-d*c,
i[n][g]=d*p+l*c}for(let g=0;g<t;g++){let p=s[g][r],c=s[g][n];s[g][r]=l*p-d*c,s[g][n]=d*p+l*c}}if(o<1e-24)break}return i.map((e,o)=>({value:e[o],
vector:s.map(r=>r[o])})).sort((e,o)=>o.value-e.value)}var xs=[];for(let i=-4.5;i<=4.5;i+=.5)for(let t=-4.5;t<=4.5;t+=.5)xs.push([i,t,Math.exp(
-.5*(i*i+t*t))]);var io=xs.reduce((i,t)=>i+t[2],0);function Jt(i,t){let[s,e]=t.logStd.map(Math.exp),o=I(2),r=0;for(let[n,a,h]of xs)o[0]=t.mean[0]+
s*n,o[1]=t.mean[1]+e*a,r+=h*i.both(o,null);return r/io}function _s(i,t,s){let e=i.both(t,null);for(let o=1;o<=4;o++)for(let r=0;r<32;r++){let n=s*
o/4,a=2*Math.PI*r/32;e=Math.max(e,i.both([t[0]+n*Math.cos(a),t[1]+n*Math.sin(a)],null))}return e}function vs(i,t,s){let e=-1/0,o=0;for(let r of i)e=Math.max(e,r);for(let r=0;r<i.length;r++)t[s+r]=Math.exp(i[r]-e),o+=t[s+r];for(let r=0;r<
i.length;r++)t[s+r]/=o}function Hs(i,t,s){let e=i.widths[0],o=i.widths.at(-1),r=s.length/e,n=I(r*o),a=I(r*o);for(let h of t){for(let l=0;l<r;l++)
vs(i.forward(h,s,l*e),a,l*o);for(let l=0;l<n.length;l++)n[l]+=a[l]/t.length}return n}function Us(i,t){let s=i.length/t.length;return t.reduce(
(e,o,r)=>e-Math.log(Math.max(i[r*s+o],1e-300)),0)/t.length}function Ys(i,t){let s=i.length/t.length;return t.filter((e,o)=>{for(let r=0;r<s;r++)
if(i[o*s+r]>i[o*s+e])return!1;return!0}).length/t.length}function Vs(i,t,s=15){let e=i.length/t.length,o=I(s);return t.forEach((r,n)=>{let a=0;
for(let d=1;d<e;d++)i[n*e+d]>i[n*e+a]&&(a=d);let h=i[n*e+a],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));o[l]+=(a===r?1:0)-h}),o.reduce((r,n)=>r+
Math.abs(n),0)/t.length}var ys=[[78,134,181],[214,133,62]],ks={spiral:"spirals",moons:"two moons",circles:"circles",xor:"XOR",none:"your points alone, two of each o\
r more"},Xs="a regression with a gap",Qt={one:["one layer of 12",[12]],two:["two layers of 8",[8,8]]};function w(i,t={},...s){let e=document.createElement(i);for(let[o,r]of Object.entries(t))o.startsWith("on")?e.addEventListener(o.slice(2),r):
r!==null&&r!==!1&&e.setAttribute(o,r===!0?"":r);return e.append(...s.filter(o=>o!=null)),e}var z=(i,t,s,e={})=>w("button",{type:"button",title:t,
onclick:s,...e},i),$=i=>Number.isFinite(i)?Number(i.toPrecision(3)).toString():"–",L=i=>METHOD_STYLES[i],k=i=>L(i)[U()?2:1],it=class{stops;say;constructor(t,s,e,o,{
say:r=a=>String(a),help:n=""}={}){this.stops=s,this.say=r,this.input=w("input",{type:"range",min:0,max:s.length-1,step:1,"aria-label":t}),this.
text=w("output"),this.node=w("div",{class:"pg-slider",title:n||null},w("span",{},t),this.text,this.input),this.input.addEventListener("input",
()=>{this.told(),o(this.value,!1)}),this.input.addEventListener("change",()=>o(this.value,!0)),this.value=e}get value(){return this.stops[Number(
this.input.value)]}set value(t){let s=this.stops.map(e=>Math.abs(e-t));this.input.value=s.indexOf(Math.min(...s)),this.told()}told(){this.text.
textContent=this.say(this.value),this.input.setAttribute("aria-valuetext",this.text.textContent)}};function pt(i,t,s,e){let o=w("select",{"a\
ria-label":i},...t.map(([r,n])=>w("option",{value:r,selected:r===s},n)));return o.addEventListener("change",()=>e(o.value)),w("label",{class:"\
pg-menu"},w("span",{},i),o)}var X=class{most;least;width;height;dense;paint;constructor(t,{ratio:s,label:e,least:o=0,most:r=1/0}){this.canvas=
w("canvas",{role:"img","aria-label":e}),this.node=w("div",{class:"pg-board"},this.canvas),this.paint=t,this.ratio=s,this.least=o,this.most=r,
this.width=0,this.height=0,new ResizeObserver(()=>this.fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(
Math.min(this.most,Math.max(this.least,t*this.ratio)));if(!t||t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);this.
width=t,this.height=s,this.dense=e,this.resized=!0,Object.assign(this.canvas,{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.
draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.width)return;let t=this.canvas.getContext("2d");t.setTransform(this.
dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap="round",this.paint(t,this.width,this.height)}say(t){this.
canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},$t=class{seconds;frame;constructor(t,s){this.frame=s,this.
playing=!1,this.visible=!1,this.request=0,this.last=0,this.seconds=[],new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.wake()},
{threshold:.05}).observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=performance.
now();let t=s=>{if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.seconds.push(e),this.seconds.
length>120&&this.seconds.shift(),this.request=requestAnimationFrame(t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}get rate(){
return this.seconds.length/this.seconds.reduce((t,s)=>t+s,0)}},Zt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},
ro={light:{ink:"#1f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,2\
55,255,.85)"},dark:{ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"#3a434d",low:[14,54,74],high:[72,67,60],truth:"#e6a3da",halo:"rgba(21\
,25,30,.8)"}},A=()=>ro[U()?"dark":"light"];function S(i,t,s,e,{color:o=A().ink,size:r=13,align:n="left",weight:a=400,halo:h=!0,base:l="middl\
e"}={}){i.font=`${a} ${r}px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`,i.textAlign=n,i.textBaseline=l,h&&(i.lineWidth=
3.5,i.strokeStyle=A().halo,i.strokeText(t,s,e)),i.fillStyle=o,i.fillText(t,s,e)}function J(i,t,s,e,o,r){if(i.beginPath(),i.lineWidth=2.5,i.strokeStyle=
i.fillStyle=r,t==="x"){i.moveTo(s-o,e-o),i.lineTo(s+o,e+o),i.moveTo(s+o,e-o),i.lineTo(s-o,e+o),i.stroke();return}if(t==="cross"){i.moveTo(s-
o,e),i.lineTo(s+o,e),i.moveTo(s,e-o),i.lineTo(s,e+o),i.stroke();return}t==="square"?i.rect(s-o,e-o,2*o,2*o):t==="triangle-up"?(i.moveTo(s,e-
1.2*o),i.lineTo(s+1.1*o,e+o),i.lineTo(s-1.1*o,e+o),i.closePath()):i.arc(s,e,o,0,2*Math.PI),i.fill(),i.lineWidth=1.5,i.strokeStyle=A().paper,
i.stroke()}function ft(i,t,s,e){let o=[],r=(n,a)=>(e-n)/(a-n);for(let n=0;n+1<t;n++)for(let a=0;a+1<s;a++){let h=n*s+a,l=i[h],d=i[h+1],g=i[h+
s+1],p=i[h+s],c=[];l<e!=d<e&&c.push([a+r(l,d),n]),d<e!=g<e&&c.push([a+1,n+r(d,g)]),p<e!=g<e&&c.push([a+r(p,g),n+1]),l<e!=p<e&&c.push([a,n+r(
l,p)]);for(let f=0;f+1<c.length;f+=2)o.push([...c[f],...c[f+1]])}return o}function gt(i,t,s,e,o,r){i.beginPath();for(let[n,a,h,l]of t)i.moveTo(
n/(e-1)*o,a/(s-1)*r),i.lineTo(h/(e-1)*o,l/(s-1)*r);i.stroke()}function ts(i,t,s,e,o,r,n,{log:a=!1,most:h=0}={}){let l=A(),d=52,g=x=>a?Math.log10(Math.max(x,1e-6)):x,p=n.flatMap(x=>x.y.filter(Number.isFinite).
map(g)),[c,f]=[Math.min(...p),Math.max(...p)];p.length||([c,f]=[0,1]);let m=a?.6:.05*Math.max(1,Math.abs(f));f-c<m&&([c,f]=[(c+f-m)/2,(c+f+m)/
2]);let u=Math.max(h,...n.map(x=>x.x.at(-1)??0),10),b=x=>t+(e-d)*x/u,v=x=>s+o-7-(o-32)*(g(x)-c)/(f-c);i.strokeStyle=l.line,i.lineWidth=1,i.beginPath(),
i.moveTo(t,s+o-.5),i.lineTo(t+e-d,s+o-.5),i.stroke(),S(i,r,t,s+9,{color:l.soft,size:12.5,halo:!1});let y=[];for(let x of n){i.beginPath(),x.
y.forEach((E,C)=>{Number.isFinite(E)&&i.lineTo(b(x.x[C]),v(E))}),i.strokeStyle=x.color,i.globalAlpha=x.faint?.25:x.thin?.6:1,i.lineWidth=x.faint||
x.thin?1.2:2.4,i.stroke(),i.globalAlpha=1;let M=x.y.at(-1);!x.faint&&!x.thin&&Number.isFinite(M)&&y.push({x:b(x.x.at(-1))+6,y:v(M),text:$(M),
color:x.color})}y.sort((x,M)=>x.y-M.y),y.forEach((x,M)=>{M&&x.y<y[M-1].y+14&&(x.y=y[M-1].y+14)});for(let x=y.length-1,M=s+o;x>=0;M=y[x].y-14,
x--)y[x].y=Math.min(y[x].y,M);for(let x of y)S(i,x.text,x.x,x.y,{color:x.color,size:12.5,weight:600})}function Ks(i,t,s,e){let o=U(),r=o?[21,25,30]:[255,255,255],n=w("canvas",{width:27,height:27}),a=n.getContext("2d"),h=a.createImageData(27,27),
l=A(),d=k(i.method);i.mean.forEach((u,b)=>{let v=Math.abs(2*u-1),y=ys[u>.5?1:0];for(let x=0;x<3;x++)h.data[4*b+x]=r[x]+(y[x]-r[x])*.75*v;h.data[4*
b+3]=255}),a.putImageData(h,0,0),t.imageSmoothingQuality="high",t.drawImage(n,.5,.5,26,26,0,0,s,e);let g=(u,b)=>gt(t,ft(u,27,27,b),27,27,s,e);
t.strokeStyle=l.ink,t.lineWidth=1.2,t.globalAlpha=.28;for(let u of i.shadows)g(u.field,0);if(t.strokeStyle=d,t.globalAlpha=.55,t.lineWidth=1.1,
i.fields.length>1)for(let u of i.fields)g(u,.5);t.globalAlpha=1,t.lineWidth=2.6,g(i.mean,.5);let{x:p,y:c}=i.world.train,[f,m]=[2.4,2];c.forEach(
(u,b)=>{let v=(p[2*b]/f+1)/2*s,y=(1-p[2*b+1]/m)/2*e;t.fillStyle=`rgb(${ys[u].map(x=>o?Math.min(255,1.35*x):.8*x).join()})`,t.strokeStyle=l.paper,
t.lineWidth=1.5,t.beginPath(),u?t.rect(v-4.5,y-4.5,9,9):t.arc(v,y,5,0,7),t.fill(),t.stroke()}),S(t,"pale: unsure",8,e-12,{size:12.5,color:l.
soft}),S(t,i.fields.length>1?"thin lines: the draws":"one point: one line",s-8,e-12,{size:12.5,color:l.soft,align:"right"})}function Js(i,t,s,e){
let o=A(),r=k(i.method),n=i.mean.length,a=f=>f/(n-1)*s,h=Math.max(...i.world.panes.map(f=>f.highest)),l=f=>e/2-f/h*e/2,d=i.spread;t.fillStyle=
t.strokeStyle=r,t.beginPath(),i.mean.forEach((f,m)=>t.lineTo(a(m),l(f+d[m])));for(let f=n-1;f>=0;f--)t.lineTo(a(f),l(i.mean[f]-d[f]));t.globalAlpha=
.16,t.fill(),t.globalAlpha=1;let g=(f,m,u)=>{t.beginPath(),f.forEach((b,v)=>t.lineTo(a(v),l(b))),t.globalAlpha=m,t.lineWidth=u,t.stroke(),t.
globalAlpha=1};t.strokeStyle=o.ink;for(let f of i.shadows)g(f.field,.25,1.2);if(t.strokeStyle=r,i.fields.length>1)for(let f of i.fields)g(f,
.45,1.1);g(i.mean,1,2.6);let{x:p,y:c}=i.world.train;t.fillStyle=o.ink,c.forEach((f,m)=>{t.beginPath(),t.arc((p[m]/3+1)/2*s,l(f),3.6,0,7),t.fill()}),
i===i.world.panes[0]&&S(t,"band: two standard deviations",8,e-12,{size:12.5,color:o.soft})}function Qs(i,t,s,e){let o=A();if(!i.drawn){S(t,"\
loss on the plane of the two sharpest directions",2,10,{color:o.soft,size:12.5,halo:!1});return}let{values:r,axes:n,center:a}=i.drawn,h=Math.
min(...r),l=r.map(c=>Math.min(1,(c-h)/i.world.high)),d=w("canvas",{width:23,height:23}),g=d.getContext("2d"),p=g.createImageData(23,23);l.forEach(
(c,f)=>{for(let m=0;m<3;m++)p.data[4*f+m]=o.low[m]+(o.high[m]-o.low[m])*c;p.data[4*f+3]=255}),g.putImageData(p,0,0),t.drawImage(d,.5,.5,22,22,
0,0,s,e),t.strokeStyle=U()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let c=1;c<10;c++)gt(t,ft(l,23,23,c/10),23,23,s,e);t.
fillStyle=k(i.method);for(let c of i.members()){let f=j(c,a,-1);t.beginPath(),t.arc((Y(f,n[0].vector)/1.2+1)/2*s,(1-2*Y(f,n[1].vector)/1.2)/
2*e,3,0,7),t.fill()}S(t,`loss, two sharpest directions · λ₁ = ${$(n[0].value)}`,6,12,{color:o.ink,size:12.5})}function Zs(i,t,s,e){if(!i.
steps){let l={color:A().soft,size:15,halo:!1};S(t,"Play draws the scores against the steps here.",0,12,l);return}let o=[[i.kind==="gap"?"tes\
t NLL":"test loss","test"],["calibration error, ECE","ece"],["λ₁ of the training loss","lambda"]].filter(([,l])=>l!=="ece"||i.kind!=="gap"),
r=s<620,n=r&&o.length>2?1:o.length,a=(s-14*(n-1))/n,h=e*n/o.length;o.forEach(([l,d],g)=>{let p=i.panes.flatMap(c=>[...c.shadows.map(f=>({color:k(
c.method),x:f.x,y:f[d],faint:!0})),{color:k(c.method),x:c.x,y:c[d]}]);ts(t,g%n*(a+14),Math.floor(g/n)*h,a,h-4,l,p.filter(c=>c.y.some(Number.
isFinite)),{log:d==="lambda",most:200})})}var es=class{network;learner;learned;mean;near;axes;center;next;nextAxes;row;drawn;right;noise;world;x;test;ece;lambda;fields;turn;constructor(t,s){
this.world=t,this.method=s,this.shadows=[],this.plane=new X((e,o,r)=>this.drawInputs(e,o,r),{ratio:.8,label:""}),this.loss=new X((e,o,r)=>Qs(
this,e,o,r),{ratio:.5,label:"",most:230}),this.plane.canvas.addEventListener("click",e=>t.add(e,this.plane.canvas)),this.menu=pt("method",["\
gd","sam","vi","sabma","sgld","hmc"].map(e=>[e,L(e)[0]]),s,e=>{this.method=e,this.shadows=[],t.again()}),this.reading=w("p",{class:"pg-reads"}),
this.node=w("div",{class:"pg-pane"},w("div",{class:"pg-head"},this.menu,this.reading),this.plane.node,t.planes?this.loss.node:null)}begin(){
let{world:t}=this,s=t.kind==="gap",{radius:e,rho:o,kappa:r,rate:n}=t.settings;this.plane.reshape(s?.44:.8),this.network=new Ut([s?1:2,...Qt[t.
net][1],s?1:2]);let a=this.network.dim,h=new tt(1e3+t.seed),l=t.train,d=s&&!V[this.method]?.05:1;this.learned=Rs(this.network,l);let g={mean:new Float64Array(
a),logStd:new Float64Array(a).fill(Math.log(1.5))},p={mean:this.network.init(h),logStd:new Float64Array(a).fill(Math.log(.05))},c=this.method===
"sgld"?.2:1,f={T:r/l.y.length,rate:n*d*c,momentum:.9,draws:2,radius:this.method==="sam"?o:e,most:s?30:12};this.learner=new Tt(this.method,this.
learned,g,p,f,t.seed),this.noise=Array.from({length:30},()=>h.normals(a)),this.fields=[],this.turn=0,this.x=[],this.test=[],this.ece=[],this.
lambda=[],this.axes=null,this.near=At(this.learned,this.learner.q.mean,2),this.drawn=null,this.row=0,this.lost=!1,this.refresh(1/0),this.score()}keep(){
this.x.length<8||(this.shadows.push({field:this.world.kind==="gap"?this.mean:Float64Array.from(this.mean,t=>t-.5),x:this.x,test:this.test,ece:this.
ece,lambda:this.lambda}),this.shadows.length>8&&this.shadows.shift())}members(){return this.learner.members(this.world.draws,this.noise)}step(){
this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),{grid:e}=this.world,o=e.length/this.network.
widths[0],r=this.world.kind==="gap",n=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.length;for(let a=0;a<s.length;a++){
if(this.fields[a]&&(a-this.turn+s.length)%s.length>=t)continue;let h=this.fields[a]??=new Float32Array(o);for(let l=0;l<o;l++){let d=this.network.
forward(s[a],e,l*this.network.widths[0]);r?h[l]=d[0]:(vs(d,n,0),h[l]=n[1])}}t<s.length&&(this.turn+=t),this.mean=new Float32Array(o);for(let a of this.
fields)for(let h=0;h<o;h++)this.mean[h]+=a[h]/s.length}score(){let{test:t,kind:s}=this.world,e=this.members();if(this.x.push(this.world.steps),
s==="gap"){let o=t.y.reduce((r,n,a)=>{let h=e.reduce((l,d)=>{let g=(this.network.forward(d,t.x,a)[0]-n)/t.noise;return l+Math.exp(-.5*g*g)},
0)/e.length;return r-Math.log(Math.max(h,1e-30))+Math.log(t.noise)+.5*Math.log(2*Math.PI)},0);this.test.push(o/t.y.length),this.ece.push(NaN)}else{
let o=Hs(this.network,e,t.x);this.test.push(Us(o,t.y)),this.ece.push(Vs(o,t.y)),this.right=Ys(o,t.y)}this.lambda.push(this.lost?NaN:(this.near=
At(this.learned,this.learner.q.mean,2,12,this.near))[0].value)}differ(t){return Math.sqrt(this.fields.reduce((s,e)=>s+(e[t]-this.mean[t])**2,
0)/this.fields.length)}get spread(){return this.mean.map((t,s)=>2*Math.hypot(this.differ(s),.15))}get highest(){let{spread:t}=this;return Math.
min(6,Math.max(2,...this.mean.map((s,e)=>1.05*(Math.abs(s)+t[e]))))}get unsure(){let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.
train;return{gap:t(-.1),points:s.reduce((e,o)=>e+t(o),0)/s.length}}curve(){this.lost||(this.axes=this.near=At(this.learned,this.learner.q.mean,
2,12,this.near),this.center=this.learner.q.mean.slice(),this.next=new Float64Array(529),this.nextAxes=this.axes,this.row=0)}fill(t){for(;this.
world.planes&&t>0&&this.next&&this.row<23;t--,this.row++)for(let s=0;s<23;s++){let[e,o]=[s,this.row].map(r=>(2*r/22-1)*1.2);this.next[this.row*
23+s]=this.learned.both(j(j(this.center,this.axes[0].vector,e),this.axes[1].vector,-o/2),null)}this.next&&this.row===23&&(this.drawn={values:this.
next,axes:this.nextAxes,center:this.center},this.next=null)}draw(){this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){this.mean&&(this.world.
kind==="gap"?Js(this,t,s,e):Ks(this,t,s,e),this.lost&&S(t,"diverged: lower rate or radius",s/2,e/2,{align:"center",weight:700}))}};function Ss(i,t,s,e){let o=new Float64Array(i==="gap"?t:2*t),r=i==="gap"?new Float64Array(t):new Int32Array(t);for(let n=0;n<t;n++){let a=n%
2,h=e.uniform(),l=a?-1:1;if(i==="gap"){o[n]=a?-1.8+.8*h:.8+h,r[n]=Math.sin(2.2*o[n])+.15*e.normal();continue}let[d,g]={moons:()=>a?[.5-1.2*Math.
cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let p=a?.6:1.5;return[p*Math.
cos(2*Math.PI*h),p*Math.sin(2*Math.PI*h)]},spiral:()=>{let p=.25+1.5*h,c=4.2*h+(a?Math.PI:0);return[p*Math.cos(c),p*Math.sin(c)]},xor:()=>{let p=e.
uniform()<.5?1:-1;return[p*(.25+1.3*h),p*l*(.25+1.3*e.uniform())]}}[i]();o[2*n]=d+s*e.normal(),o[2*n+1]=g+s*e.normal(),r[n]=a}return{x:o,y:Array.
from(r),noise:i==="gap"?.15:null}}var Bt=class{sliders={};settings;label;seed;frames;planes;yours;constructor(t={}){let{kind:s="spiral",methods:e=["vi","sabma"],planes:o=!0,label:r="\
a network",settings:n={}}=t;this.kind=s,this.planes=o,this.label=r,this.net="one",this.seed=1,this.draws=10,this.steps=0,this.frames=0,this.
settings={radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15,...n},this.yours=[],this.side=0,this.panes=e.map(a=>new es(this,a)),this.traces=
new X((a,h,l)=>Zs(this,a,h,l),{ratio:.16,label:"",least:o?190:110,most:330}),this.build(),this.again(),this.clock=new $t(this.panes[0].node,
a=>this.frame(a)),!Zt.matches&&t.autoplay!==!1&&this.play(!0)}build(){let t=o=>(r,n)=>{this.settings[o]=r,n&&(this.forget(),this.again(),this.
play(!0))};this.sliders={};let s=(o,r,n,a,h)=>this.sliders[o]=new it(r,n,this.settings[o],t(o),{say:a,help:h}).node;this.playButton=z("Play",
"play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.verdict=w("p",{class:"pg-verdict",role:"status"});let e=o=>r=>{o(
r),this.forget(),this.again(),this.play(!0)};this.node=w("section",{class:"pg-network","aria-label":this.label},w("div",{class:"pg-panes"},...this.
panes.map(o=>o.node)),w("div",{class:"pg-row"},this.playButton,z("Restart","the same run from its start",()=>{this.again(),this.play(!0)}),z(
"New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let o of this.panes)o.keep();this.seed+=1,this.again(),
this.play(!0)}),this.planes?pt("data",Object.entries(ks),this.kind,e(o=>{this.kind=o})):null,this.planes?pt("a click adds",[["0","a circle"],
["1","a square"]],"0",o=>{this.side=Number(o)}):null),w("div",{class:"pg-sliders"},s("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,2.8,4],
o=>o?`${o} × the width of q`:"0: the same as VI"),s("rho","radius of SAM",[0,.05,.1,.2,.5,1],o=>`${o}, a distance`),s("kappa","temperature",
[.01,.03,.1,.3,1],o=>o===1?"1: Bayes":`${o}: colder than Bayes`,"the weight of KL(q ‖ prior)")),this.verdict,this.traces.node,w("details",
{class:"pg-more"},w("summary",{},"More: network, points, rate"),pt("network",Object.entries(Qt).map(([o,[r]])=>[o,r]),this.net,e(o=>{this.net=
o})),w("div",{class:"pg-sliders"},s("rate","learning rate",[.005,.01,.02,.05,.1]),s("shots","points a class or side",[4,8,12,20,40,80]),s("n\
oise","noise of the points",[0,.1,.15,.2,.3,.5]),new it("ensemble",[1,2,5,10,20,30],10,o=>{this.draws=o;for(let r of this.panes)r.refresh(1/0);
this.draw()},{say:o=>`${o} draw${o>1?"s":""}`}).node)))}add(t,s){if(this.kind==="gap")return;let e=s.getBoundingClientRect();this.yours.push(
[2.4*(2*(t.clientX-e.left)/e.width-1),2*(1-2*(t.clientY-e.top)/e.height),this.side]),this.forget(),this.again(),this.play(!0)}points(t,s){let{
kind:e,settings:o,yours:r}=this,n=e==="none"&&[0,1].every(d=>r.filter(g=>g[2]===d).length>1),{x:a,y:h,noise:l}=n?{x:[],y:[],noise:null}:Ss(e===
"none"?"xor":e,t,o.noise,s);return e==="gap"?{x:a,y:h,noise:l}:{x:Float64Array.from([...a,...r.flatMap(([d,g])=>[d,g])]),y:[...h,...r.map(d=>d[2])],
noise:l}}forget(){for(let t of this.panes)t.shadows=[]}again(){let{kind:t,settings:s,seed:e}=this,o=2*s.shots,r=new tt(e);this.steps=0,this.
train=this.points(o,r),this.test=t==="none"?this.train:Ss(t,200,s.noise,r),this.sliders.rho.hidden=this.panes.every(n=>n.method!=="sam"),this.
sliders.noise.hidden=t==="gap",this.high=t==="gap"?40:1.5,this.grid=t==="gap"?Float64Array.from({length:121},(n,a)=>-3+a/20):Float64Array.from(
{length:1458},(n,a)=>{let h=a>>1;return a%2?2*(1-2*Math.floor(h/27)/26):2.4*(2*(h%27)/26-1)});for(let n of this.panes)n.begin(),n.curve(),n.
fill(23);this.draw()}play(t){if(t&&this.steps>=1500&&this.again(),this.clock.play(t),this.playButton.textContent=t?"Pause":"Play",!t){for(let s of this.
panes)s.refresh(1/0),s.curve(),s.fill(23),s.score();this.draw()}}advance(){this.steps+=1;for(let t of this.panes)(t.method!=="hmc"||this.steps%
2)&&t.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,(this.due??0)+t*80);this.due>=1;this.due--)this.advance();this.frames+=
1,this.jobs?.length||(this.jobs=this.round()),this.jobs.shift()(),performance.now()-s<3&&this.jobs.shift()?.(),this.tell(),this.steps>=1500&&
this.play(!1)}round(){this.rounds=(this.rounds??0)+1;let t=this.rounds%4===0,s=this.panes.filter(o=>!o.lost),e=o=>[()=>o.refresh(2),()=>o.plane.
draw(),...this.planes?[()=>o.fill(2)]:[],...t?[()=>o.score(),()=>o.loss.draw()]:[],...this.rounds%12===2?[()=>o.curve()]:[]];return[...s.flatMap(
e),...t||!s.length?[()=>this.traces.draw()]:[]]}recolor(){this.draw()}draw(){for(let t of this.panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.
frames%30===0){if(!t)return;let s=this.panes.map(o=>this.readingOf(o));this.verdict.textContent=`Step ${this.steps}${this.verdictOf()}`,this.
panes.forEach((o,r)=>{o.reading.textContent=s[r],o.plane.say(`What the ensemble of ${L(o.method)[0]} predicts for ${ks[this.kind]??Xs}. ${s[r]}\
.`),o.loss.say(`Training loss of ${L(o.method)[0]} on the plane of its two sharpest directions, the draws projected onto it.`)});let e=this.
panes.map((o,r)=>`${L(o.method)[0]}: ${s[r]}`);this.traces.say(`Against steps: ${e.join("; ")}.`)}readingOf(t){if(t.lost)return"diverged";let s=$(
t.test.at(-1));if(this.kind==="gap"){let[o,r]=[t.unsure.gap,t.unsure.points].map(n=>Number(n.toPrecision(2)));return`test NLL ${s}; spread ${o}\
 in the gap, ${r} at the points`}let e=Math.round(100*t.right);return`test loss ${s}, ECE ${$(t.ece.at(-1))}, ${e} % right, λ₁ ${$(t.axes[0].
value)}`}verdictOf(){let t=this.panes.filter(a=>!a.lost&&Number.isFinite(a.test.at(-1))),s=a=>L(a.method)[0];if(this.steps<200||this.kind===
"gap"||t.length<2)return this.kind==="none"?" · tested on the points themselves":"";let e=a=>t.reduce((h,l)=>a(l)<a(h)?l:h),o=e(a=>a.test.at(
-1)),r=e(a=>a.lambda.at(-1)),n=t.reduce((a,h)=>h.lambda.at(-1)>a.lambda.at(-1)?h:a);return`. ${o===r?`${s(o)} is flatter and has the lower t\
est loss.`:`${s(o)} has the lower test loss, though ${o===n?"its mean is the sharpest":`${s(r)} is flatter`}: flat is not all that counts.`}`}};var se=`.pg {
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
.pg .pg-score span { font-weight: 600; }
.pg .pg-score b { font-size: 30px; line-height: 1.2; color: var(--method); min-width: 2.4em; border-bottom: 4px solid transparent; }
.pg .pg-score .pg-wins b { border-color: currentColor; }
.pg .pg-score small { font-size: 14px; line-height: 1.3; color: var(--soft); }
.pg .pg-message { margin: 0 0 4px; font-size: 16px; }
.pg .pg-run { align-items: center; }
/* what the first screen does not need */
.pg .pg-more > summary { cursor: pointer; font-weight: 600; padding: 10px 0; min-height: 44px; }
.pg .pg-more[open] { display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); }
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
.pg .pg-sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 310px), 1fr)); gap: 2px 28px; }
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
  .pg > :is(h2, p) { font-size: 16px; } .pg > h2 { margin-top: 36px; font-size: 21px; } .pg .pg-panes { gap: 12px; }
  .pg .pg-verdict { min-height: 6em; }
  .pg .pg-reads { font-size: 14px; }
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
.pg .pg-step .pg-row .pg-slider { flex: 1 1 160px; } .pg .pg-step .pg-row button { align-self: center; } .pg .pg-step .pg-below { display: g\
rid; gap: 14px 30px; }
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
@container (min-width: 860px) {
  .pg .pg-step { display: grid; grid-template: auto auto 1fr / minmax(0, 1.25fr) minmax(0, 1fr); gap: 8px 28px; }
  .pg .pg-step > * { grid-column: 2; } .pg .pg-step .pg-row { align-items: center; flex-wrap: nowrap; } .pg .pg-step > .pg-board { grid-area\
: 1 / 1 / span 3; }
  .pg .pg-step .pg-verdict { min-height: 4.5em; } .pg .pg-step .pg-formula { font-size: 18px; margin: 0; }
}
@media (prefers-reduced-motion: reduce) { .pg svg g { transition: none; } }
.pg .pg-panes { display: grid; align-items: end; gap: 16px 26px; grid-template-columns: minmax(0, 1fr); } .pg .pg-pane { display: grid; gap:\
 8px; min-width: 0; }
.pg .pg-network > .pg-row { align-items: center; margin-top: 12px; } .pg .pg-network .pg-sliders { margin: 12px 0; } .pg .pg-network .pg-ver\
dict { min-height: 1.5em; }
.pg .pg-head { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 12px; align-items: center; } .pg .pg-head .pg-menu span {\
 display: none; } .pg .pg-head select { width: 8em; }
.pg .pg-reads { margin: 0; min-height: 2.7em; font-size: 15px; line-height: 1.35; font-variant-numeric: tabular-nums; }
@container (min-width: 620px) { .pg .pg-panes { grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); } }
@media print { .pg canvas { height: auto !important; } .pg :is(.pg-board, .pg-pane) { break-inside: avoid; } .pg :is(button, select, input) \
{ display: none; } }
`;var ee=24,po=[0,17,-17,34,-34,51,-51,68],fo=(i,t)=>i[0]<t[2]&&i[2]>t[0]&&i[1]<t[3]&&i[3]>t[1];function Ms(i,t,s,e){let o=([r,n,a,h])=>r>=2&&
n>=2&&a<=s-2&&h<=e-2;return i.find(r=>o(r)&&!t.some(n=>fo(r,n)))??i[0]}var Et=class{taken=[];constructor(t,s,e,o=4){this.pen=t,this.left=o,this.
width=s,this.height=e}avoid(t,s,e=7){this.taken.push([t-e,s-e,t+e,s+e])}put(t,s,e,o={}){let{size:r=13,weight:n=400,align:a="left"}=o;this.pen.
font=`${n} ${r}px system-ui, -apple-system, "Segoe UI", Arial, sans-serif`;let h=this.pen.measureText(t).width,g={left:[s,s-h-ee],center:[s-
h/2],right:[s-h,s+ee]}[a].map(c=>Math.max(this.left,Math.min(this.width-h-4,c))).flatMap(c=>po.map(f=>[c,e+f-8,c+h,e+f+8])),p=Ms(g,this.taken,
this.width,this.height);this.taken.push(p),S(this.pen,t,p[0],p[1]+8,{...o,align:"left"})}};var Ts="http://www.w3.org/2000/svg",go=10,mo=[0,14,26,40,56,74],uo=[-1,0,1].flatMap(i=>[-1,0,1].map(t=>[i,t])),oe=(i,t,s)=>[i-s,t-s,i+s,t+s];
function ie(i,t,s){let{X:e,Y:o,unit:r}=i.view(t,s),{from:n,g:a,there:h,worst:l}=i.record,{radius:d}=i.settings,g=k("sabma"),p=k("vi"),c=k("s\
am"),f=A().truth,m=A().ink;i.svg.setAttribute("viewBox",`0 0 ${t} ${s}`),i.svg.replaceChildren();let u=(T,F,R=i.svg)=>{let P=document.createElementNS(
Ts,T);for(let[G,bt]of Object.entries(F))P.setAttribute(G,bt);return R.append(P),P},b=T=>u("g",{"data-s":T}),v=(T,F,R,P,G)=>u("ellipse",{cx:e(
F[0]),cy:o(F[1]),rx:R*r,ry:P*r,fill:"none",...G},T),y=[],x=[],M=(...T)=>y.push(T),E=(T,F,R,P,G,bt,_t,Ct={})=>{let ot=Math.hypot(P,G),K=Math.
min(11,.6*ot),[at,St]=ot?[P/ot,G/ot]:[0,0];for(let Ht=0;Ht<=12;Ht++)x.push([F+P*Ht/12,R+G*Ht/12]);u("line",{x1:F,y1:R,x2:F+P-at*K*.7,y2:R+G-
St*K*.7,stroke:bt,"stroke-width":3.2,...Ct},T),u("path",{d:`M${F+P},${R+G} L${F+P-at*K-St*K*.55},${R+G-St*K+at*K*.55} L${F+P-at*K+St*K*.55},${R+
G-St*K-at*K*.55} Z`,fill:bt},T),_t&&M(T,F+P+9*at+(at<0?-14:2),R+G+14*St+5,_t,bt)},C=n.logStd.map(Math.exp),[W,Z]=[e(n.mean[0]),o(n.mean[1])],
rt=T=>i.phase>=T,q=Math.max(nt(a.mean),l?nt(l.mean):0,1e-9),O=.3*Math.min(t,s)/q;if(rt(2)){let T=b("ball");v(T,n.mean,d*C[0],d*C[1],{stroke:c,
"stroke-width":2,"stroke-dasharray":"3 6"}),M(T,W+d*C[0]*r*.72+6,Z+d*C[1]*r*.72+12,"ball",c)}let lt=b("q");v(lt,n.mean,2*C[0],2*C[1],{stroke:m,
"stroke-width":2.4,fill:m,"fill-opacity":.07});for(let T of i.noise)u("circle",{cx:e(n.mean[0]+C[0]*T[0]),cy:o(n.mean[1]+C[1]*T[1]),r:3.4,fill:m},
lt);if(u("circle",{cx:W,cy:Z,r:6,fill:m,stroke:A().paper,"stroke-width":1.5},lt),M(lt,W-2*C[0]*r*.72-20,Z-2*C[1]*r*.72-6,"q",m),rt(3)&&h){let T=b(
"worst"),F=h.logStd.map(Math.exp),[R,P]=[e(h.mean[0]),o(h.mean[1])];if(v(T,h.mean,2*F[0],2*F[1],{stroke:c,"stroke-width":2.4,fill:c,"fill-op\
acity":.08}),E(T,W,Z,R-W,P-Z,c,"Δ"),u("circle",{cx:R,cy:P,r:5,fill:c,stroke:A().paper,"stroke-width":1.5},T),M(T,R-2*F[0]*r*.72-26,P+2*F[1]*
r*.72+16,"q′",c),rt(5)){let G=b("diff");E(G,R,P,a.mean[0]*O,-a.mean[1]*O,p,"",{"stroke-dasharray":"4 5"}),E(G,R+a.mean[0]*O,P-a.mean[1]*O,
(l.mean[0]-a.mean[0])*O,-(l.mean[1]-a.mean[1])*O,f),M(G,R+(a.mean[0]+l.mean[0])/2*O-20,P-(a.mean[1]+l.mean[1])/2*O-12,"g′ − g",f)}rt(4)&&
E(b("there"),R,P,l.mean[0]*O,-l.mean[1]*O,g,"g′")}if(rt(1)&&E(b("g"),W,Z,a.mean[0]*O,-a.mean[1]*O,p,"g"),rt(6)){let T=b("move"),F=i.after.
logStd.map(Math.exp);v(T,i.after.mean,2*F[0],2*F[1],{stroke:g,"stroke-width":2.4,"stroke-dasharray":"7 4"}),E(T,W,Z,e(i.plain.mean[0])-W,o(i.
plain.mean[1])-Z,p,"",{"stroke-width":2}),E(T,W,Z,e(i.after.mean[0])-W,o(i.after.mean[1])-Z,g,"step")}let wt=x.map(([T,F])=>oe(T,F,5)),Ge=[n.
mean,...h&&rt(3)?[h.mean]:[]];for(let T of Ge)wt.push(oe(e(T[0]),o(T[1]),9));for(let[T,F,R,P,G]of y){let bt=go*P.length,_t=mo.flatMap(ot=>uo.
map(([K,at])=>[F+ot*K,R+ot*at])).map(([ot,K])=>[ot,K-14,ot+bt,K+4]),Ct=Ms(_t,wt,t,s);wt.push(Ct),u("text",{x:Ct[0],y:Ct[3]-4,fill:G},T).textContent=
P}}var Lt=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step."],["g","g: which way the loss \
that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as the mean could go, were the who\
le radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two widths."],["worst","Ascend by Δ\
 to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the widths took, the mean did not get."],
["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells SA-BMA from VI. It points where t\
he slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend against g′ and the pull of the prior\
. The arrow is drawn at its true length; the thin blue one is the step of VI."]],re="F: the Fisher matrix of q itself. For a mean it is 1/wi\
dth², for the logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients.";var is=class{record;relief;settings;world;constructor(t){this.world=t,this.phase=0,this.ground=new X((s,e,o)=>this.drawGround(s,e,o),{ratio:.86,
label:"",least:260,most:540}),this.svg=document.createElementNS(Ts,"svg"),this.svg.setAttribute("aria-hidden","true"),this.ground.node.append(
this.svg),this.profile=new X((s,e,o)=>this.drawProfile(s,e,o),{ratio:.5,label:"",least:180,most:260}),this.sentence=w("p",{class:"pg-formula",
role:"group","aria-label":"objective and step; point at a symbol to see its mark"}),this.text=w("p",{class:"pg-verdict",role:"status"}),this.
slider=new it("phase",Lt.map((s,e)=>e),0,s=>this.go(s),{say:s=>`${s+1} of ${Lt.length}`}),this.budget=w("div",{class:"pg-budget",role:"img"}),
this.node=w("section",{class:"pg-step","aria-label":"one step of SA-BMA"},this.ground.node,w("div",{class:"pg-row"},z("Next","the next phase",
()=>this.next(),{class:"pg-play"}),z("Back","the phase before",()=>this.go(Math.max(0,this.phase-1))),this.slider.node),this.text,w("div",{class:"\
pg-below"},w("div",{},this.sentence,this.budget),this.profile.node)),this.write(),t.still.push(()=>this.take()),this.node.addEventListener("\
pointerover",s=>this.light(s.target.closest?.("[data-s]")?.dataset.s)),this.node.addEventListener("pointerleave",()=>this.light()),this.node.
addEventListener("focusin",s=>this.light(s.target.dataset?.s)),this.node.addEventListener("click",s=>{let e=s.target.closest?.(".pg-formula \
[data-s]")?.dataset.s;e&&(this.reveal(e),this.light(e))}),this.take()}take(t){let s=this.world.model,e=s.runs.get("sabma")?.learner??s.learner(
"sabma",s.seed),o=t??ht(e.q),r=Dt(2);this.prior=e.prior,this.settings={...e.settings,radius:s.settings.radius,T:s.settings.T,rate:s.settings.
rate},this.loss=s.loss,this.noise=s.noise.slice(0,4),this.record=Xt(this.loss,o,r,this.prior,this.noise,this.settings),this.after=o,this.plain=
ht(this.record.from),zt(this.loss,this.plain,Dt(2),this.prior,this.noise,this.settings);let{g:n,delta:a}=this.record;this.slope=a?Y(n.mean,a.
mean)+Y(n.logStd,a.logStd):0,this.promised=n.value+this.slope,this.relief=null,this.go(t?0:this.phase)}next(){this.phase<Lt.length-1?this.go(
this.phase+1):this.take(this.after)}go(t){this.phase=this.slider.value=t,this.text.textContent=`${t+1}. ${Lt[t][1]}`,this.recolor()}recolor(){
this.ground.draw(),this.profile.draw(),this.tellBudget();let t=this.record;this.profile.say(`The loss along the ascent from q${t.there?`: ${$(
t.g.value)} at q, ${$(t.worst.value)} at q′, ${$(this.promised)} by the straight line of slope g`:"; there is none at radius 0"}.`),this.ground.
say(`One step of SA-BMA on the ground. ${this.text.textContent} Loss that q expects ${$(t.g.value)}`+(t.there?`, that q′ expects ${$(t.worst.
value)}.`:"; the radius is 0, so that there is no q′."))}write(){let t=(s,e)=>w("span",{"data-s":s,tabindex:0,role:"button"},e);this.sentence.
append("min over ",t("q","q")," of max over ",t("worst","q′")," in ",t("ball","KL(q′ ‖ q) ≤ radius²/2")," of E",w("sub",{},"q′"),
"[L] + T ",t("move","KL(q ‖ prior)"),w("br"),t("worst","Δ")," = ",t("ball","radius")," · F⁻¹",t("g","g")," / √(",t("g","g"),"ᵀF⁻¹",
t("g","g"),")",w("br"),t("worst","q′")," = ",t("q","q")," + ",t("worst","Δ"),",  ",t("there","g′")," = ",t("g","g")," + ",t("diff","(g′\
 − g)"),w("br"),t("q","q")," ← ",t("q","q")," − ",t("move","rate · F⁻¹(g′ + T ∇KL)"),w("small",{},re))}reveal(t){let s=Lt.findIndex(
([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);for(let s of this.node.querySelectorAll("[data-s]"))
s.classList.toggle("pg-lit",s.dataset.s===t)}tellBudget(){let{share:t,there:s}=this.record,{radius:e}=this.settings,o=n=>`${Math.round(100*n)}\
 %`;if(this.budget.hidden=this.phase<3||!s,this.budget.hidden)return;let r=`${o(t)} of radius² went into the means, ${o(1-t)} into the widt\
hs: the mean of q′ lies at √${t.toFixed(2)} = ${o(Math.sqrt(t))} of the way to the edge.`;this.budget.setAttribute("aria-label",r),this.
budget.replaceChildren(w("div",{class:"pg-bar"},w("i",{style:`width:${100*t}%`},t>.25?"means":""),w("b",{style:`width:${100*(1-t)}%`},t<.75?
"widths":"")),w("p",{},`Radius ${e}. `,r))}view(t,s){let{from:e,there:o}=this.record,r=e.logStd.map(Math.exp),n=Math.max(2.1,this.settings.radius+
.3),a=[0,1].map(l=>Math.max(n*r[l],o?Math.abs(o.mean[l]-e.mean[l])+2.1*Math.exp(o.logStd[l]):0)*1.12),h=Math.min(t/2/a[0],s/2/a[1]);return{unit:h,
X:l=>t/2+(l-e.mean[0])*h,Y:l=>s/2-(l-e.mean[1])*h,center:e.mean}}drawGround(t,s,e){if(!this.record)return;let{unit:o,center:r}=this.view(s,e),
n=A(),a=121,h=Math.round(120*e/s)+1,l=[s,e,o,U()].join();if(this.relief?.key!==l){let f=new Float64Array(2),m=new Float64Array(a*h);for(let v=0;v<
h;v++)for(let y=0;y<a;y++)f[0]=r[0]+(y/(a-1)-.5)*s/o,f[1]=r[1]-(v/(h-1)-.5)*e/o,m[v*a+y]=this.loss.both(f,null);let u=Math.min(...m),b=Math.
max(1e-9,Math.max(...m)-u);this.relief={key:l,columns:a,rows:h,share:m.map(v=>(v-u)/b)}}let{share:d}=this.relief,g=w("canvas",{width:a,height:h}),
p=g.getContext("2d"),c=p.createImageData(a,h);d.forEach((f,m)=>{for(let u=0;u<3;u++)c.data[4*m+u]=n.low[u]+(n.high[u]-n.low[u])*f;c.data[4*m+
3]=255}),p.putImageData(c,0,0),t.drawImage(g,0,0,s,e),t.strokeStyle=U()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let f=1;f<
14;f++)gt(t,ft(d,h,a,f/14),h,a,s,e);ie(this,s,e)}drawProfile(t,s,e){if(!this.record)return;let o=A(),{from:r,delta:n,g:a,worst:h}=this.record,
l=k("sam");if(S(t,"loss along the ascent from q (0) to q′ (1)",2,10,{color:o.soft,size:12.5,halo:!1}),!n){S(t,"radius 0: no ascent",s/2,e/
2,{align:"center",halo:!1});return}let d=Array.from({length:41},(v,y)=>y/40*1.4),g=d.map(v=>ct(this.loss,{mean:j(r.mean,n.mean,v),logStd:j(r.
logStd,n.logStd,v)},this.noise).value),p=d.map(v=>a.value+v*(this.slope??0)),c=Math.min(...g,...p),f=Math.max(...g,...p),m=v=>8+(s-70)*v/1.4,
u=v=>e-22-(e-52)*(v-c)/Math.max(f-c,1e-9),b=(v,y,x)=>{t.beginPath(),v.forEach((M,E)=>t.lineTo(m(d[E]),u(M))),t.strokeStyle=y,t.lineWidth=2.2,
t.setLineDash(x),t.stroke(),t.setLineDash([])};b(p,k("vi"),[4,5]),b(g,o.ink,[]),S(t,"slope g",m(1.4)+6,u(p.at(-1)),{color:k("vi"),size:12.5}),
S(t,"loss",m(1.4)+6,Math.abs(u(g.at(-1))-u(p.at(-1)))<14?u(p.at(-1))+(u(g.at(-1))<u(p.at(-1))?-15:15):u(g.at(-1)),{size:12.5}),J(t,"circle",
m(0),u(a.value),5,o.ink),S(t,$(a.value),m(0)+4,u(a.value)+14,{size:12.5}),!(this.phase<3)&&(J(t,"circle",m(1),u(h.value),5,l),S(t,$(h.value),
m(1)+4,u(h.value)+14,{size:12.5,color:l}))}};function wo(i,t={},...s){let e=document.createElement(i);for(let[o,r]of Object.entries(t))e.setAttribute(o,r);return e.append(...s),e}var Qi=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function ae(i,t){let s=wo("a",{href:i,download:t});document.body.append(s),s.click(),s.remove()}var N=[-3,3],st=[-2,2],rs=3,Wt={hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,
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
about:"Press on the ground to push it down or up, then play."}},ne=81,he=121;function le(i){let t=Ds(i),s=1/0;for(let e=0;e<ne;e++)for(let o=0;o<
he;o++){let r=N[0]+(N[1]-N[0])*o/(he-1),n=st[0]+(st[1]-st[0])*e/(ne-1);s=Math.min(s,t.both([r,n],null))}return{dim:2,both:(e,o)=>t.both(e,o)-
s}}var It=[.01,.02,.05,.1,.2,.3,.5,1],As=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],bo=12,xo=6;function H(i,{method:t,q:s,members:e}){return V[t]?Jt(i,s):
e.reduce((o,r)=>o+i.both(r,null),0)/e.length}var ce=(i,t,s={})=>({method:i,q:ht(t.q),members:t.members(40,[]),lost:!t.finite,...s});function $s(i,t){
let s=!1,e=()=>{let o=performance.now()+bo;for(;!s&&i.length&&performance.now()<o;)i.shift()();s||(i.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var as=class{constructor(t,s,{T:e,radius:o},r){this.loss=t,this.vi=[],this.sabma=[],this.ghost=null;let n=(h,l)=>()=>{let d=s(
h===this.vi?"vi":"sabma",l);d.lost||h.push({...d,...l,train:H(t,d)})},a=[...It.map(h=>n(this.vi,{T:h,radius:0})),...As.map(h=>n(this.sabma,{
T:e,radius:h}))];this.stop=$s(a,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===o),s),r()})}vi;sabma;ghost;loss;find(t,s){let e=t&&this.
vi.findIndex((n,a)=>a&&(n.train-t.train)*(this.vi[a-1].train-t.train)<=0);if(!(e>0))return null;let[o,r]=[this.vi[e-1],this.vi[e]];for(let n=0;n<
xo;n++){let a=Math.sqrt(o.T*r.T),h=s("vi",{T:a,radius:0}),l={...h,T:a,train:H(this.loss,h)};(l.train-t.train)*(o.train-t.train)<=0?r=l:o=l}return[
o,r].reduce((n,a)=>Math.abs(a.train-t.train)<Math.abs(n.train-t.train)?a:n)}draw(t,s,e,o,{T:r,radius:n}){let a=A(),h=[["vi",this.vi,u=>u.T===
r,"T"],["sabma",this.sabma,u=>u.radius===n,"radius"]];S(t,"training loss → against test loss ↑, each after a whole run",2,10,{color:a.soft,
size:12.5,halo:!1});let l=u=>[u.train,H(o,u)],d=[...this.vi,...this.sabma].map(l);if(!d.length)return;let g=u=>{let b=d.map(M=>M[u]),v=Math.
min(...b),y=Math.max(...b),x=Math.max(.08*(y-v),.02);return[v-x,y+x]},[p,c]=[g(0),g(1)],f=u=>44+(s-70)*(u-p[0])/(p[1]-p[0]),m=u=>e-24-(e-58)*
(u-c[0])/(c[1]-c[0]);t.strokeStyle=a.line,t.beginPath(),t.moveTo(44,30),t.lineTo(44,e-20),t.lineTo(s-4,e-20),t.stroke(),p.forEach((u,b)=>S(t,
$(u),f(u),e-9,{color:a.soft,size:12,align:b?"right":"left"}));for(let u of c)S(t,$(u),40,m(u),{color:a.soft,size:12,align:"right"});for(let[
u,b,v,y]of h){let x=k(u);t.strokeStyle=t.fillStyle=x,t.lineWidth=1.6,t.beginPath();for(let E of b)t.lineTo(f(l(E)[0]),m(l(E)[1]));t.stroke();
for(let E of b){let[C,W]=l(E);t.beginPath(),t.arc(f(C),m(W),2.6,0,7),t.fill()}for(let E of b.filter(v)){let[C,W]=l(E);J(t,L(u)[3],f(C),m(W),
6,x)}let M=b.at(-1);if(M){let[E,C]=l(M);S(t,`${L(u)[0]}, larger ${y}`,Math.min(f(E)+8,s-4),m(C)+(m(C)>e/2?14:-12),{color:x,size:12,align:f(E)>
s/2?"right":"left"})}}if(this.ghost){let[u,b]=l(this.ghost);t.strokeStyle=k("vi"),t.setLineDash([2,3]),t.lineWidth=2,t.beginPath(),t.arc(f(u),
m(b),10,0,7),t.stroke(),t.setLineDash([]),S(t,`T* = ${$(this.ghost.T)}`,f(u)+14,m(b)+4,{color:k("vi"),size:12})}}};function de(i,t,s,e){let o=A(),
r=e.flatMap(({values:p})=>p).filter(Number.isFinite),n=Math.min(...r),a=Math.max(...r,n+.05),h=Math.max(12,Math.round(t/22)),l=p=>4+p*(t-8)/
h,d=(s-44)/e.length,g=(t-8)/h-2;S(i,`test loss of ${e[0].values.length} seeds, a block each`,2,10,{color:o.soft,size:12.5,halo:!1}),e.forEach(
({method:p,values:c,where:f},m)=>{let u=new Array(h).fill(0),b=26+(m+1)*d;c.filter(Number.isFinite).forEach(y=>{u[Math.min(h-1,Math.floor((y-
n)/(a-n)*h))]+=1});let v=Math.min(9,(d-18)/Math.max(...u,1));i.fillStyle=k(p),u.forEach((y,x)=>{for(let M=0;M<y;M++)i.fillRect(l(x),b-(M+1)*
v,g,v-1)}),S(i,`${L(p)[0]}: ${f}`,t-4,b-d+10,{color:k(p),size:12,align:"right"}),i.fillStyle=o.line,i.fillRect(4,b,t-8,1)}),[n,a].forEach((p,c)=>S(
i,$(p),c?t-4:4,s-8,{color:o.soft,size:12,align:c?"right":"left"}))}var et=600,pe=6,xt=20,Ls=.3,fe=["radius","rho","T","viT","rate","draws"],Es=class{constructor(t){this.learner=t,this.trail=[[...t.q.mean]],this.
x=[],this.stands=[],this.train=[],this.test=[],this.lambda=[],this.kl=[],this.lost=!1}},ns=class{name="hollow";world;terms=[];settings={};start=[];loss;test;giveUp=()=>{};seed=1;ensemble=10;steps=0;on=new Set(
["vi","sabma"]);shadows=[];ends=[];shift=[Ls,0];bend=0;tally="";sweep=null;runs=new Map;constructor(t=()=>{}){this.changed=t;let s=new tt(99);
this.noise=Array.from({length:30},()=>s.normals(2)),this.choose("hollow")}choose(t){this.name=t,this.world=Wt[t],this.terms=this.world.terms.
map(n=>({...n}));let{radius:s,rho:e,T:o,rate:r}=this.world;this.settings={radius:s,rho:e,T:o,viT:o,rate:r,draws:4},this.start=[...this.world.
start],this.shadows=[],this.reground(),this.rest(!1)}reground(){this.loss=le(this.terms),this.retest()}retest(){this.test=zs(this.loss,this.
shift,this.bend)}get far(){return Math.hypot(...this.shift)}along(t){return this.far?this.shift.map(s=>s/this.far*t):[t,0]}moveTest(t,s=this.
bend){this.shift=t.map(e=>Math.max(-1,Math.min(1,e))),this.bend=s,this.retest();for(let[e,o]of this.runs)o.test=o.stands.map(r=>H(this.test,
{method:e,...r}))}learner(t,s,e={}){let{radius:o,rho:r,T:n,viT:a,rate:h,draws:l}={...this.settings,...e},p={T:t==="vi"?e.T??a:n,rate:h,momentum:0,
draws:l,radius:t==="sam"?r:o},c=Math.log(this.world.std),f=Math.log(rs),m={mean:Float64Array.of(0,0),logStd:Float64Array.of(f,f)},u={mean:Float64Array.
from(this.start),logStd:Float64Array.of(c,c)};return new Tt(t,this.loss,m,u,p,s)}rest(t=!0){if(t&&this.steps>60)for(let[s,e]of this.runs)this.
shadow(s,e);this.steps=0,this.giveUp(),this.sweep?.stop(),this.sweep=null,this.ends=[],this.tally="",this.runs=new Map;for(let s of Rt)this.
on.has(s)&&this.runs.set(s,new Es(this.learner(s,this.seed)));this.measure()}shadow(t,s){this.shadows.push([t,s.trail]),this.shadows.length>
80&&this.shadows.shift()}advance(t){for(let s=0;s<t&&this.steps<et;s++){this.steps+=1;for(let[e,o]of this.runs)o.lost||e==="hmc"&&this.steps%
pe||(o.learner.step(),o.lost=!o.learner.finite,o.lost||o.trail.push([...o.learner.q.mean]));this.steps%4===0&&this.measure()}}get over(){return this.
steps>=et}measure(){for(let[t,s]of this.runs){if(s.lost)continue;let{q:e,prior:o,kept:r}=s.learner,a=dt[t]&&r.length?r.slice(-this.ensemble):
[e.mean.slice()],h={q:{mean:e.mean.slice(),logStd:e.logStd.slice()},members:a};s.x.push(this.steps),s.stands.push(h),s.train.push(H(this.loss,
{method:t,...h})),s.test.push(H(this.test,{method:t,...h})),s.lambda.push(At(this.loss,e.mean,1)[0].value),s.kl.push(V[t]?Ft(e,o).value:NaN)}}whole(t,s,e={}){
let o=this.learner(t,s,e),r=t==="hmc"?et/pe:et;for(let n=0;n<r&&o.finite;n++)o.step();return ce(t,o)}many(t,s,e=[{}]){this.giveUp(),this.shadows=
[],this.ends=[],this.tally=`${xt} seeds run …`;let o=[],r=e.flatMap(n=>t.flatMap(a=>Array.from({length:xt},(h,l)=>()=>{o.push({...this.whole(
a,l+1,n),...n})})));this.giveUp=$s(r,()=>{this.ends=o,this.tally=s(o),this.changed()})}compareT(){if(this.sweep||!this.on.has("vi")||!this.on.
has("sabma"))return;let{viT:t,radius:s}=this.settings,e=(o,r)=>this.whole(o,this.seed,o==="vi"?r:{radius:r.radius});this.sweep=new as(this.loss,
e,{T:t,radius:s},this.changed)}placeOf(t){let{places:s}=this.world;return s.find(([,[e,o],r])=>Math.hypot(t[0]-e,t[1]-o)<r)?.[0]}whereIs(t){
let s=this.placeOf(t),e=Float64Array.from(t),o=new Float64Array(2);if(s?.endsWith("ridge"))return`on the ${s}`;for(let n=0;n<80;n++)this.loss.
both(e,o.fill(0)),e[0]-=.05*o[0],e[1]-=.05*o[1];let r=this.placeOf(e);return r?`in the ${r===s?"":"basin of the "}${r}`:""}counted(t){let s=new Map;
for(let e of t){let o=e.lost?"diverged":this.placeOf(e.q.mean)??"elsewhere";s.set(o,(s.get(o)??0)+1)}return[...s].sort((e,o)=>o[1]-e[1])}lossAt(t,s){
let e=this.ends.filter(r=>r.method===s&&!r.lost);if(e.length)return e.reduce((r,n)=>r+H(t,n),0)/e.length;let o=this.runs.get(s);return!o||o.
lost?NaN:H(t,{method:s,...o.stands.at(-1)})}ranking(t){return[...this.runs.keys()].map(s=>({method:s,loss:this.lossAt(t,s)})).filter(({loss:s})=>Number.
isFinite(s)).sort((s,e)=>s.loss-e.loss)}get query(){let{name:t,on:s,seed:e,shift:o,bend:r,settings:n}=this,a=Object.fromEntries(fe.map(h=>[h,
String(n[h])]));return new URLSearchParams({ground:String(t),on:[...s].join(),...a,seed:String(e),shift:o.map(h=>Number(h.toFixed(2))).join(),
bend:String(r)})}read(t,s){let e=h=>t.has(h)?Number(t.get(h)):NaN,o=t.get("ground")??"";Object.hasOwn(Wt,o)&&this.choose(o);let r=(t.get("on")??
"").split(",").filter(h=>Rt.includes(h));r.length&&(this.on=new Set(r));for(let h of fe)s[h].includes(e(h))&&(this.settings[h]=e(h));Number.
isInteger(e("seed"))&&(this.seed=e("seed"));let n=(t.get("shift")??"").split(",").map(Number),a=t.has("shift")&&n.length===2&&n.every(Number.
isFinite);this.moveTest(a?n:this.shift,s.bend.includes(e("bend"))?e("bend"):0),this.rest(!1)}};var Ot=.4,Nt=.02,vt=i=>L(i)[0],Is=(i,t)=>t.loss-i.loss<Nt?`${vt(i.method)} and ${vt(t.method)} are even`:`${vt(i.method)} wins by ${(t.loss-
i.loss).toFixed(2)}`;function hs(i){let[t,s]=i.ranking(i.test);if(!t)return"";if(!s)return`Test loss of ${vt(t.method)}: ${t.loss.toFixed(2)}\
.`;let[e,o]=i.ranking(i.loss);return i.far+i.bend?`${i.over||i.ends.length?"On":"So far, on"} the test ground ${Is(t,s)}; not shifted, ${Is(
e,o)}.`:`Not shifted, ${Is(t,s)}.`}function vo(i){let t=i.sweep?.ghost;if(!t)return"";let{viT:s,radius:e}=i.settings,o=i.sweep?.sabma.find(a=>a.
radius===e),r=H(i.test,t)-H(i.test,o),n=`${Math.abs(r).toFixed(2)} ${r>0?"higher":"lower"}`;return`At T* = ${$(t.T)} instead of ${s}, VI has\
 SA-BMA's training loss, and its test loss is ${Math.abs(r)<Nt?"the same":n}.`}function ge(i){if(!i.steps)return"Not trained yet.";let t=[...i.
runs].filter(([,{lost:o}])=>!o).map(([o,{learner:r}])=>({name:vt(o),where:i.whereIs(r.q.mean),cost:_s(i.loss,r.q.mean,Ot)-i.loss.both(r.q.mean,
null)})),s=t.map(({name:o,cost:r})=>`${o} ${r.toFixed(2)}`).join(", "),e=[t.map(({name:o,where:r})=>r&&`${o} is ${r}`).filter(Boolean).join(
", ")+".",hs(i),`Moving the mean by ${Ot} the worst way raises the loss by: ${s}.`,i.over?vo(i):""];for(let[o,{lost:r}]of i.runs)r&&e.push(`${vt(
o)} diverged: lower the learning rate or the radius.`);return e.filter(o=>o&&o!==".").join(" ")}var Os=(i,t)=>i.counted(t).map(([s,e])=>`${e}\
 ${s}`).join(", ");function me(i){let t=e=>`${vt(e)}: ${Os(i,i.ends.filter(o=>o.method===e))}`,s=[...i.on].map(t).join("; ");return`${xt} se\
eds of ${et} steps. ${s}. ${hs(i)}`}var ue=25,we=240,be=17,xe=[-1.2816,-.5244,0,.5244,1.2816],ve=xe.flatMap(i=>xe.map(t=>Float64Array.of(i,t)));function yo({loss:i},t,{q:s,prior:e,
settings:o},r){let n=N[1]-N[0];return Array.from({length:ue},(a,h)=>{let l=N[0]+n*h/(ue-1),d={mean:Float64Array.of(l,r),logStd:s.logStd};if(!V[t]){
let f=t==="sam"?o.radius:0,m={...o,rate:1,radius:f};return[l,-Kt(i,d.mean.slice(),new Float64Array(2),e,m).there[0]]}let g=ct(i,d,ve),c=t===
"sabma"&&o.radius?ct(i,bs(d,g,o.radius).there,ve):g;return[l,-c.mean[0]-o.T*Ft(d,e).mean[0]]})}function ye(i,t,s,e){let o=A(),r=i.runs.get("\
sabma")??i.runs.values().next().value;if(!r)return;let n=r.learner.q.mean[1],a=[...i.runs.keys()].filter(p=>!dt[p]),h=e-be*a.length-8,l=1.4*
i.world.top,d=p=>(p-N[0])/(N[1]-N[0])*s,g=p=>h-(h-40)*Math.min(1,(p+.07*l)/l);t.beginPath(),t.moveTo(0,h);for(let p=0;p<=we;p++){let c=N[0]+
(N[1]-N[0])*p/we;t.lineTo(d(c),g(i.loss.both([c,n],null)))}t.lineTo(s,h),t.fillStyle=`rgb(${o.high.join()})`,t.globalAlpha=.75,t.fill(),t.globalAlpha=
1,t.lineWidth=1.5,t.strokeStyle=o.soft,t.stroke(),S(t,"loss along w₁, cut through the mean",2,10,{color:o.soft,halo:!1}),S(t,"arrows: wher\
e a step moves the mean",2,26,{color:o.soft});for(let[p,{learner:c}]of i.runs){let{q:f}=c,m=k(p),u=d(f.mean[0]),b=g(i.loss.both([f.mean[0],n],
null));if(V[p]){let v=Math.exp(f.logStd[0]),y=g(Jt(i.loss,f));t.strokeStyle=m,t.lineWidth=3,t.beginPath(),t.moveTo(d(f.mean[0]-2*v),y),t.lineTo(
d(f.mean[0]+2*v),y),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(u,y),t.lineTo(u,b),t.stroke()}J(t,L(p)[3],u,b,4.5,m)}a.forEach((p,c)=>{
let f=h+14+be*c;t.fillStyle=k(p);for(let[m,u]of yo(i,p,i.runs.get(p)?.learner,n)){let b=4*Math.tanh(Math.abs(u)*4)+1,v=Math.sign(u)*b;t.beginPath(),
t.moveTo(d(m)+v,f),t.lineTo(d(m)-v,f-b),t.lineTo(d(m)-v,f+b),t.fill()}})}function ke(i,t,s,e){let o=[["loss: training thin, test thick","tes\
t",.46],["λ₁, sharpest curvature at the mean","lambda",.27],["KL(q ‖ prior), in nats","kl",.27]],r=0;for(let[n,a,h]of o){let d=[...i.runs].
flatMap(([g,p])=>{let c={color:k(g),x:p.x,y:p[a]};return a==="test"?[{...c,y:p.train,thin:!0},c]:[c]}).filter(g=>g.y.some(Number.isFinite));
ts(t,0,r,s,h*e-6,n,d,{most:et}),r+=h*e}}function Se(i,t,s,e){if(i.ends.length){let r=[...new Set(i.ends.map(n=>n.method))].map(n=>{let a=i.ends.
filter(l=>l.method===n),h=a.map(l=>l.lost?NaN:H(i.test,l));return{method:n,where:Os(i,a),values:h}});de(t,s,e,r)}else if(i.sweep){let{viT:o,
radius:r}=i.settings;i.sweep.draw(t,s,e,i.test,{T:o,radius:r})}else S(t,"after a run: temperature beside radius",2,10,{color:A().soft,halo:!1})}var ko=.3,mt=1,yt=32,Ns=.5,So=Object.freeze({vi:"VI",sabma:"SA-BMA"}),Me=i=>L(i)[0],Te=[["yes","Yes"],["no","No"]];function Ae(i){let[t,s]=i.
ranking(i.test),e=s.loss-t.loss<Nt;return{first:t,second:s,winner:e?"even":t.method}}function $e(i){return{...It.map(e=>({T:e,loss:H(i.test,
i.whole("vi",i.seed,{T:e}))})).reduce((e,o)=>o.loss<e.loss?o:e),rival:H(i.test,i.whole("sabma",i.seed))}}var ls=(i,t,s,e="")=>t.filter(o=>o.
draws===s&&i.placeOf(o.q.mean)===e).length;function Ee(i,t){let s=[mt,yt].map(o=>ls(i,t,o,"narrow hollow")),e=[mt,yt].map(o=>ls(i,t,o,"wide \
meadow"));return`Radius ${Ns}: with ${mt} draw a step (filled) ${e[0]} of ${xt} runs end in the meadow and ${s[0]} in the hollow; with ${yt}\
 (rings) ${e[1]} and ${s[1]}. `}var qt=[{key:"shift",title:"Shift",view:"grounds",ask:"Variational inference (VI) lowers the average loss of\
 a cloud of weights, SA-BMA that of the worst cloud within the radius. Both train on one ground, are tested on another, moved by 0.3. Which \
has the lower test loss?",guesses:[...Object.entries(So),["even","Equal"]],set:{},then:{},truth:i=>Ae(i).winner,answer(i){let{first:t,second:s,
winner:e}=Ae(i),o=[...i.runs].map(([a,{learner:h}])=>`${Me(a)} is ${i.whereIs(h.q.mean)}`),r=`${t.loss.toFixed(2)} to ${s.loss.toFixed(2)}`;
return`${e==="even"?"They are even":`${Me(t.method)} wins`}: ${r}. ${o.join(", ")}. Try a shift of 0.`}},{key:"temperature",title:"Temperatu\
re",view:"grounds",ask:"A wide prior keeps a cloud from shrinking, and the temperature T weighs it: the larger T, the wider VI's cloud. Up t\
o now both had T = 0.1. Is there a T at which VI has SA-BMA's test loss?",guesses:Te,set:{},then:{viT:ko},truth:i=>{let{loss:t,rival:s}=$e(i);
return t-s<Nt?"yes":"no"},answer(i){let{T:t,loss:s,rival:e}=$e(i),o=i.runs.get("vi"),r=o?i.whereIs(o.learner.q.mean):"",n=s-e<Nt?"as low as":
"above";return`At T = ${i.settings.viT} VI is ${r} too. Its lowest test loss over the slider, ${s.toFixed(2)} at T = ${t}, is ${n} SA-BMA's ${e.
toFixed(2)}. But this ground was made so that the difference is plain.`}},{key:"network",title:"A trained network",view:"frontier",ask:"A ne\
twork trained on rotated digits adapts to two upright ones a class; means over 40 seeds. At the same temperature SA-BMA (radius 1) is flatte\
r than VI. Is there a T at which VI has both its training loss and its curvature λ₁?",guesses:Te,set:{},then:{},truth:()=>"yes",answer:()=>"\
Nearly: the line of VI along its temperature (blue) almost covers that of SA-BMA along its radius (green). At equal training loss λ₁ is 0.96\
 of VI's and the NLL 0.007 lower. Most of what the radius does here, a lower temperature does."},{key:"draws",title:"Draws",view:"grounds",ask:`\
A step averages gradients over S draws from the cloud. The ascent to the worst cloud follows their noise as well. At radius ${Ns}: with whic\
h S does SA-BMA stay out of the hollow more often?`,guesses:[["one",`S = ${mt}`],["many",`S = ${yt}`],["even","As often"]],on:["sabma"],set:{
radius:Ns,draws:mt},then:{},seeds:[{draws:mt},{draws:yt}],tell:Ee,counts:i=>[mt,yt].map(t=>({name:`S = ${t}`,value:i.ends.length?`${ls(i,i.ends,
t,"wide meadow")} of ${xt}`:"–"})),truth:i=>{let[t,s]=[mt,yt].map(e=>ls(i,i.ends,e,"narrow hollow"));return t<s?"one":t>s?"many":"even"},answer:i=>Ee(
i,i.ends)+"Few draws widen the cloud as a higher temperature does; with many, SA-BMA falls into the hollow as VI does. On the trained networ\
k few draws do the reverse: with 1, 8, 128 a step the radius is worth VI's T = 0.0137, 0.0211, 0.0237, from 0.03."}],Le=(i,t)=>i.view==="fro\
ntier"||("seeds"in i?t.ends.length>0:t.steps>=et);var ut={seeds:40,T:.03,vi:[[.006,.013308,1.0158,.58418,.042675,.076063,.01291,.0077517],[.01,.022048,1.3511,.56598,.035909,.061803,.0087214,
.0065766],[.015,.032973,1.6514,.5554,.03367,.047402,.0054091,.0045322],[.02,.043971,1.8783,.55011,.036256,.030927,.0030981,.0029507],[.03,.065808,
2.1927,.54699,.04311,0,0,0],[.05,.10942,2.5763,.55254,.062964,.062848,.0039081,.0036917],[.075,.16348,2.8693,.56774,.088486,.11056,.006941,.0051976],
[.1,.21667,3.0677,.58631,.11308,.14151,.00908,.0064426]],sabma:[[0,.065808,2.1927,.54699,.04311,0,0,0],[.5,.055361,2.0196,.54416,.03901,.020374,
89114e-8,.0019212],[1,.046795,1.8443,.54244,.036838,.037138,.001756,.0029713],[2,.034217,1.5546,.54231,.033359,.061681,.0035037,.0046419]]};var Mo=[{title:"curvature λ₁",at:2,ticks:[1,1.5,2,2.5,3]},{title:"NLL on test digits",at:3,ticks:[.54,.55,.56,.57,.58]},{title:"ECE on te\
st digits",at:4,ticks:[.04,.06,.08,.1]}],To=[.02,.05,.1,.2],Ao=2*Math.PI,$o=3,Ie=4,Ne={T:ut.vi.map(([i])=>i),radius:ut.sabma.map(([i])=>i)},
Pt=(i,t)=>ut[i].find(([s])=>s===t)??ut[i][0],Oe=(i,t=!1)=>{let s=n=>t?Math.log(n):n,e=Math.min(...i.map(s)),o=Math.max(...i.map(s)),r=.09*(o-
e);return n=>(s(n)-e+r)/(o-e+2*r)},cs=class{T=ut.T;radius=1;open=!1;constructor(){this.board=new X((t,s,e)=>this.draw(t,s,e),{ratio:.36,label:"",
least:276}),this.message=w("p",{class:"pg-message"}),this.node=w("div",{class:"pg-frontier"},this.message,this.board.node)}show(t){Object.assign(
this,t);let{T:s,seeds:e}=ut,o=this.open?"A lower temperature does most of what the radius does.":"",r=`95 % bars: difference from VI, T = ${s}`;
this.message.replaceChildren(w("b",{},o),` ${e} seeds; ${r}.`),this.board.draw(),this.board.say(this.sentence())}sentence(){let t=([,,s,e])=>`\
λ₁ ${s.toFixed(2)}, NLL ${e.toFixed(3)}`;return`SA-BMA at radius ${this.radius}: ${t(Pt("sabma",this.radius))}. VI at T = ${this.T}: ${t(
Pt("vi",this.T))}.`}draw(t,s,e){let o=Mo.slice(0,s<520?1:s<800?2:3),r=s/o.length;o.forEach((n,a)=>this.drawPanel(t,n,a*r,r,e))}drawPanel(t,s,e,o,r){
let n=A(),{vi:a,sabma:h}=ut,l=[...a,...h],d=Oe(l.map(q=>q[1]),!0),g=q=>[-1,0,1].map(O=>q[s.at]+O*q[s.at+$o]),p=Oe(l.flatMap(g)),[c,f,m,u]=[e+
40,e+o-14,38,r-42],b=q=>c+(f-c)*d(q[1]),v=q=>u-(u-m)*p(q),y=q=>v(q[s.at]),x=q=>{let[O,lt,wt]=g(q).map(v);return{x:b(q),y:lt,low:O,high:wt}},
M=new Et(t,e+o,u,c);for(let q of s.ticks){let O=v(q);O<m||O>u||(t.lineWidth=1,t.strokeStyle=n.line,t.beginPath(),t.moveTo(c,O),t.lineTo(f,O),
t.stroke(),S(t,String(q),c-6,O,{color:n.soft,size:12,align:"right"}))}for(let q of To){let O=c+(f-c)*d(q);O<c||S(t,String(q),O,u+14,{color:n.
soft,size:12,align:"center"})}S(t,s.title,c,14,{weight:600,size:14,halo:!1}),S(t,"training loss (nats)",(c+f)/2,u+31,{color:n.soft,size:12.5,
align:"center"}),this.open&&this.line(t,a,x,"vi",M),this.line(t,h,x,"sabma",M);let[C,W]=[Pt("vi",this.T),Pt("sabma",this.radius)];J(t,"squar\
e",b(C),y(C),7,k("vi")),J(t,"circle",b(W),y(W),7,k("sabma"));let Z={weight:700,size:14};M.put(`SA-BMA, radius ${this.radius}`,b(W)+12,y(W)+20,
{...Z,color:k("sabma")});let rt={...Z,color:k("vi"),align:"right"};if(M.put(`VI, T = ${this.T}`,b(C)-10,y(C)-20,rt),!!this.open)for(let q of[
a[0],a[a.length-1]]){let{x:O,high:lt}=x(q),wt={color:k("vi"),align:"center"};q[0]!==this.T&&M.put(`T = ${q[0]}`,O,lt-14,wt)}}line(t,s,e,o,r){
let n=s.map(e);t.strokeStyle=t.fillStyle=k(o),t.lineWidth=o==="vi"?2:3.2,t.setLineDash(o==="vi"?[7,5]:[]),t.beginPath();for(let{x:a,y:h}of n)
t.lineTo(a,h);t.stroke(),t.setLineDash([]),t.lineWidth=1.5,n.forEach(({x:a,y:h,low:l,high:d},g)=>{t.beginPath(),t.arc(a,h,3,0,Ao),t.fill(),t.
beginPath(),t.moveTo(a,l),t.lineTo(a,d);for(let c of[l,d])t.moveTo(a-Ie,c),t.lineTo(a+Ie,c),r.avoid(a,c,5);t.stroke();let p=n[Math.max(0,g-1)];
for(let c of[.25,.5,.75,1])r.avoid(p.x+c*(a-p.x),p.y+c*(h-p.y),4)})}get numbers(){return[{method:"vi",row:Pt("vi",this.T)},{method:"sabma",row:Pt(
"sabma",this.radius)}].map(({method:t,row:s})=>({method:t,nll:$(s[3]),lambda:$(s[2])}))}};var D=181,Q=121;function jt(i,t){let s=i.getBoundingClientRect();return[N[0]+(t.clientX-s.left)/s.width*(N[1]-N[0]),st[1]-(t.clientY-s.top)/
s.height*(st[1]-st[0])]}var ds=class{loss;top;relief;density;constructor(t){this.board=new X((s,e,o)=>{if(!this.loss)return;let r=this.relief,
n=e/6;(!r||r.width!==e||r.height!==o||r.dark!==U())&&this.paintRelief(e,o),s.drawImage(this.relief.whole,0,0,e,o),t(s,a=>(a-N[0])*n,a=>(st[1]-
a)*n,n,o)},{ratio:2/3,label:""})}lay(t,s){this.loss=t,this.top=s,this.relief=null,this.density=null}heights(){let t=new Float64Array(Q*D),s=new Float64Array(
2);for(let e=0;e<Q;e++)for(let o=0;o<D;o++)s[0]=N[0]+o/(D-1)*6,s[1]=st[1]-e/(Q-1)*4,t[e*D+o]=this.loss.both(s,null);return t}paintRelief(t,s){
let[e,o,r]=U()?[.45,.6,4]:[.22,.14,1.7],n=this.heights(),a=A(),h=Math.min(...n),l=n.map(u=>{let b=(u-h)/this.top;return b<1?.75*b:1-.25/b}),
d=w("canvas",{width:D,height:Q}),g=d.getContext("2d"),p=g.createImageData(D,Q);for(let u=0;u<Q;u++)for(let b=0;b<D;b++){let v=u*D+b,y=l[u*D+
Math.min(D-1,b+1)]-l[u*D+Math.max(0,b-1)],x=l[Math.min(Q-1,u+1)*D+b]-l[Math.max(0,u-1)*D+b],M=Math.max(-e,Math.min(o,r*(-y-x)));for(let E=0;E<
3;E++)p.data[4*v+E]=(a.low[E]+(a.high[E]-a.low[E])*l[v])*(1+M);p.data[4*v+3]=255}g.putImageData(p,0,0);let{dense:c}=this.board,f=w("canvas",
{width:t*c,height:s*c}),m=f.getContext("2d");m.imageSmoothingQuality="high",m.drawImage(d,0,0,t*c,s*c),m.scale(t*c/(D-1),s*c/(Q-1)),m.strokeStyle=
U()?"rgba(190,225,235,.28)":"rgba(60,70,80,.2)";for(let u=1;u<=14;u++)m.lineWidth=(D-1)/t*(u%4?.8:1.4),gt(m,ft(l,Q,D,u/15),Q,D,D-1,Q-1);this.
relief={whole:f,width:t,height:s,dark:U()}}drawMass(t,s,e,o,r){this.density??=this.massOf(o,r),t.strokeStyle=A().truth,this.density.forEach(
(n,a)=>{t.lineWidth=a?1.4:2.4,gt(t,n,Q,D,s,e)})}massOf(t,s){let e=this.heights(),o=Math.min(...e),r=e.map((l,d)=>{let g=N[0]+d%D/(D-1)*6,p=st[1]-
Math.floor(d/D)/(Q-1)*4;return Math.exp(-(l-o)/t-.5*(g*g+p*p)/s**2)}),n=Array.from(r).sort((l,d)=>d-l),a=n.reduce((l,d)=>l+d,0);return[.5,.95].
map(l=>{let d=0;return n.find(g=>(d+=g)>=l*a)}).map(l=>ft(r,Q,D,l))}};var Eo=44,qe=.1,Lo={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]},kt={width:.32,reach:.16,first:.1,more:.06,most:1.5},
Pe=(i,[t,s])=>Math.max(t+qe,Math.min(s-qe,i)),Ce=i=>t=>{let s=Lo[t.key];s&&(t.preventDefault(),i(s))};function Fe(i){let{canvas:t}=i.training.
board,{model:s}=i,e=!1,o=a=>{let[h,l]=jt(t,a),d=i.training.board.width/(N[1]-N[0]),g=[...s.runs.values()].map(p=>p.learner.q.mean);return[s.
start,...g].some(([p,c])=>Math.hypot(h-p,l-c)*d<Eo)},r=a=>{let h=jt(t,a);i.tool==="start"?s.start=[Pe(h[0],N),Pe(h[1],st)]:(Io(s,h,i.tool===
"down"?1:-1),i.training.lay(s.loss,s.world.top),i.testing.lay(s.test,s.world.top)),s.rest(!1),i.shown()},n=a=>i.tool==="start"&&!o(a);t.addEventListener(
"touchstart",a=>{n(a.touches[0])||a.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",a=>{a.pointerType==="touch"&&n(a)||(e=!0,
t.setPointerCapture(a.pointerId),i.play(!1),r(a))}),t.addEventListener("pointermove",a=>{e&&r(a)});for(let a of["pointerup","pointercancel"])
t.addEventListener(a,()=>{e&&(e=!1,i.again(!1))})}function De(i){let{canvas:t}=i.testing.board,s=null;t.addEventListener("pointerdown",e=>{s=
jt(t,e).map((o,r)=>o-i.model.shift[r]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermove",e=>{let o=s;o&&i.moveTest(jt(t,e).
map((r,n)=>r-o[n]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}function Io(i,[t,s],e){let o=i.terms.find(
r=>r.width===kt.width&&Math.hypot(r.at[0]-t,r.at[1]-s)<kt.reach);o?o.depth=Math.max(-kt.most,Math.min(kt.most,o.depth+kt.more*e)):i.terms.push(
{kind:"dent",at:[t,s],depth:kt.first*e,width:kt.width}),i.reground()}var Gt=2*Math.PI,ps=class{constructor(t,s,e,o,r){this.pen=t,this.X=s,this.Y=e,this.unit=o,this.width=o*(N[1]-N[0]),this.height=r,this.labels=
new Et(t,this.width,r)}title(t){this.labels.put(t,10,16,{weight:700,size:14})}outline({mean:t,logStd:s},e=[0]){let{pen:o,unit:r}=this,[n,a]=[
0,1].map(h=>2*Math.exp(s[h])*r);o.setLineDash(e.length>1?e:[]),o.beginPath(),o.ellipse(this.X(t[0]),this.Y(t[1]),n,a,0,0,Gt),o.stroke(),o.setLineDash(
[])}cloud(t){let{pen:s}=this;s.lineWidth=2,this.outline(t),s.globalAlpha=.16,s.fill(),s.globalAlpha=1}dot(t,s,e=2.4){this.pen.beginPath(),this.
pen.arc(this.X(t),this.Y(s),e,0,Gt),this.pen.fill()}line(t,s){let{pen:e,X:o,Y:r}=this;e.beginPath(),e.moveTo(o(t[0]),r(t[1])),e.lineTo(o(s[0]),
r(s[1])),e.stroke()}trail(t,s,e){let{pen:o,X:r,Y:n}=this;o.globalAlpha=e,o.strokeStyle=o.fillStyle=s,o.lineWidth=1.6,o.beginPath();for(let[l,
d]of t)o.lineTo(r(l),n(d));o.stroke();let[a,h]=t[t.length-1];o.globalAlpha=Math.min(1,2*e),this.dot(a,h,3),o.globalAlpha=1}ends(t){let{pen:s,
X:e,Y:o}=this;s.globalAlpha=.6;for(let{method:r,q:n,lost:a,draws:h}of t.ends){if(a)continue;let[l,d]=[e(n.mean[0]),o(n.mean[1])];h&&h>1?this.
ring(l,d,k(r)):J(s,L(r)[3],l,d,4.5,k(r))}return s.globalAlpha=1,t.ends.length>0}ring(t,s,e){let{pen:o}=this;o.strokeStyle=e,o.lineWidth=2,o.
beginPath(),o.arc(t,s,5,0,Gt),o.stroke()}places(t,s=[0,0]){for(let[e,o,r]of t.world.places){let n=Math.min(this.height-14,this.Y(o[1]+s[1]-r)+
6);this.labels.put(e,this.X(o[0]+s[0]),n,{color:A().soft,align:"center"})}}means(t,s){let e=[...t.runs].filter(([,r])=>!r.lost),o=([,r])=>[this.
X(r.learner.q.mean[0]),this.Y(r.learner.q.mean[1])];for(let r of e){let[n,a]=o(r);this.labels.avoid(n,a)}if(!(e.length>3))for(let[r,n]of e){
let[a,h]=o([r,n]),l={color:k(r),weight:700,size:14};this.labels.put(s(r,n),a+12,h-17,l)}}run(t,s,{learner:e,trail:o}){let{pen:r}=this,n=k(s),
{q:a,last:h}=e;if(dt[s]?(this.trail(o.slice(-160),n,s==="hmc"?.08:.3),h?.path&&this.trail(h.path,n,.4)):this.trail(o,n,.75),r.fillStyle=r.strokeStyle=
n,V[s]&&this.cloud(a),h?.there&&s==="sabma"&&this.worst(a,h.there,n),s==="sam"&&h?.e&&!t.over&&this.ascent(h,t.settings.rho),V[s]||dt[s]){r.
fillStyle=n,r.globalAlpha=.8;for(let l of e.members(t.ensemble,t.noise))this.dot(l[0],l[1]);r.globalAlpha=1}J(r,L(s)[3],this.X(a.mean[0]),this.
Y(a.mean[1]),5.5,n)}worst(t,s,e){let{pen:o,X:r,Y:n,unit:a}=this;o.lineWidth=1.4,this.outline(s,[4,4]),this.line(t.mean,s.mean);let h=n(s.mean[1])-
2*Math.exp(s.logStd[1])*a-11,l=a<80?"worst q′":"q′, worst in the radius";this.labels.put(l,r(s.mean[0]),h,{color:e,size:12.5,align:"cent\
er"})}ascent({from:t,e:s},e){let{pen:o,X:r,Y:n,unit:a}=this;o.lineWidth=1.5,o.setLineDash([4,4]),o.beginPath(),o.arc(r(t[0]),n(t[1]),e*a,0,Gt),
o.stroke(),o.setLineDash([]),this.line(t,[t[0]+s[0],t[1]+s[1]])}};function ze(i,t,s){let{pen:e,labels:o,width:r,height:n,unit:a}=i,h=A();s&&
s.drawMass(e,r,n,t.settings.T,rs);for(let[l,d]of t.shadows)i.trail(d,k(l),.22);if(i.title("training ground"),!i.ends(t)){for(let[l,d]of t.runs)
i.run(t,l,d);i.means(t,l=>L(l)[0])}s&&o.put("true posterior: 50 % and 95 % of its mass",r-8,n-14,{color:h.truth,weight:600,align:"right"}),i.
places(t),e.strokeStyle=h.soft,e.lineWidth=2,e.beginPath(),e.moveTo(12,n-14),e.lineTo(12+Ot*a,n-14),e.stroke(),o.put(`${Ot}`,18+Ot*a,n-14,{color:h.
soft,size:12.5})}function Re(i,t){let{pen:s,X:e,Y:o,labels:r,height:n}=i,a=A();if(i.title("test ground"),t.far>.05){let[h,l]=t.shift,[d,g]=t.
world.places[0]?.[1]??[0,0];s.strokeStyle=s.fillStyle=a.soft,s.lineWidth=2,s.beginPath(),s.moveTo(e(d),o(g)+26),s.lineTo(e(d+h),o(g+l)+26),s.
stroke(),s.beginPath(),s.arc(e(d+h),o(g+l)+26,3.5,0,Gt),s.fill();let p=t.bend?`, bent by ${t.bend}`:"",c=`moved by ${$(t.far)}${p}`;r.put(c,
10,n-14,{color:a.soft,size:12.5})}if(i.ends(t)){i.places(t,t.shift);return}for(let[h,l]of t.runs){if(l.lost)continue;let{q:d,members:g}=l.stands[l.
stands.length-1],p=k(h);if(s.fillStyle=s.strokeStyle=p,V[h])i.cloud(d);else for(let c of g)i.dot(c[0],c[1]);J(s,L(h)[3],e(d.mean[0]),o(d.mean[1]),
5.5,p)}i.means(t,(h,l)=>l.test[l.test.length-1].toFixed(2)),i.places(t,t.shift)}var fs={shift:[0,.1,.2,.3,.4,.6,.8,1],bend:[0,.1,.2,.4],radius:As,viT:It,T:It,rho:[0,.05,.1,.2,.3,.5,.8,1.2],rate:[.01,.02,.05,.1,.2],draws:[
1,2,4,8,16,32],ensemble:[1,2,5,10,20,30]},Oo={gd:"",sam:"SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",vi:"\
VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: sharpness-aware Bayesian model averaging, lowers the l\
oss of the worst q′ within the radius of q",sgld:"SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",hmc:"\
HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior"},No=i=>`${i} draw${i>1?"s":""}`,gs=class{sliders={};constructor(t,s){
this.world=t;let{model:e}=t;this.playButton=z("Play","play or pause",()=>t.play(!t.clock.playing),{class:"pg-play"}),this.chips=w("div",{class:"\
pg-chips",role:"group","aria-label":"methods"});for(let a of Rt){let h=z("",`show or hide ${L(a)[0]}`,()=>t.toggle(a),{"data-method":a});h.append(
w("i",{"aria-hidden":"true"}),L(a)[0]),this.chips.append(h)}let o=Object.entries(Wt).map(([a,h])=>[a,h.label]);this.ground=pt("ground",o,"ho\
llow",a=>t.choose(a)),this.tools=this.toggles("what the pointer does","tool",[["down","push down"],["up","push up"],["start","move q"]]),this.
sides=this.toggles("which ground is shown","side",[["training","training ground"],["test","test ground"]]),this.score=w("div",{class:"pg-sco\
re",role:"group","aria-label":"losses"}),this.verdict=w("p",{class:"pg-verdict",role:"status"}),this.about=w("p",{class:"pg-about"}),this.names=
w("p",{class:"pg-about"}),this.truthButton=z("True posterior","the posterior, computed on a grid",()=>{t.truth=!t.truth,t.shown(!0)});let r=(a,h,l)=>w(
"div",{class:"pg-grip",tabindex:0,role:"group","aria-label":h,onkeydown:Ce(l)},a.node);this.maps=w("div",{class:"pg-maps","data-side":"train\
ing"},r(t.training.board,"the training ground; arrow keys move the place where training starts",([a,h])=>t.moveStart(a,h)),r(t.testing.board,
"the test ground; arrow keys shift it",a=>t.moveTest(e.shift.map((h,l)=>h+a[l])))),this.first=w("div",{class:"pg-first"},this.keep("shift","\
shift of the test ground",a=>t.moveTest(e.along(a)),$),this.slider("radius","radius of SA-BMA",a=>Number(a)?`${a} × the width of q`:"0: as \
VI","how far from q SA-BMA looks for the worst posterior, √(2 KL)"),this.slider("viT","temperature of VI",a=>`T = ${a}`,"the weight of KL(\
q ‖ prior)")),this.others=w("div",{class:"pg-sliders"},this.slider("T","temperature of the others",a=>`T = ${a}`),this.slider("rho","radiu\
s of SAM",a=>`${a}, a distance`),this.slider("rate","learning rate"),this.keep("ensemble","ensemble",a=>t.average(a),a=>No(Number(a))),this.
keep("bend","bend of the test ground",a=>t.moveTest(e.shift,a)),this.slider("draws","draws a step",a=>`S = ${a}`,"of which a step averages g\
radients")),this.found=this.foundSliders();let n=[z("Link","copy a link to what is shown",a=>t.share(a.target)),z("PNG","save both grounds a\
s a picture",()=>t.picture())];this.more=w("details",{class:"pg-more"},w("summary",{},"More: methods, settings, seeds"),this.verdict,w("div",
{class:"pg-row"},z("Step","one step of every method",()=>{t.play(!1),t.advance(1)}),z("20 seeds","20 runs of each method",()=>t.many()),this.
truthButton,...s?n:[]),this.chips,this.names,this.others,w("div",{class:"pg-boards"},t.section.node,t.traces.node,t.chart.node),w("div",{class:"\
pg-under"},this.ground,this.tools,this.about)),this.node=w("section",{class:"pg-world","aria-label":"two weights"},t.sequence.node,this.sides,
this.maps,t.frontier.node,this.score,this.first,this.found,w("div",{class:"pg-row pg-run"},this.playButton,z("Restart","the same run from it\
s start",()=>t.train()),z("New seed","other noise; the last runs stay as shadows",()=>{e.seed+=1,t.train()})),this.more)}slider(t,s,e=String,o=""){
let{world:r}=this,n=(a,h)=>{r.model.settings[t]=a,this.side("training"),h?r.train():(r.model.rest(),r.draw())};return this.keep(t,s,n,e,o)}keep(t,s,e,o=String,r=""){
let n=new it(s,fs[t],fs[t][0],e,{say:o,help:r});return this.sliders[t]=n,n.node}toggles(t,s,e){let{world:o}=this,r=n=>{s==="side"?this.side(
n):o.tool=n,this.tell()};return w("div",{class:`pg-tools pg-${s}s`,role:"group","aria-label":t},...e.map(([n,a])=>z(a,a,()=>r(n),{[`data-${s}`]:n})))}foundSliders(){
let{world:t}=this,s=(e,o,r)=>new it(o,Ne[e],t.frontier[e],n=>{t.frontier.show({[e]:n}),t.tellScore()},{say:r}).node;return w("div",{class:"p\
g-first pg-found"},s("radius","radius on the trained network",e=>Number(e)?e:"0: as VI"),s("T","temperature on the trained network",e=>`T = ${e}`))}side(t){
this.maps.dataset.side=t;for(let s of this.sides.children)s.setAttribute("aria-pressed",String(s.dataset.side===t))}show(t){let s=t.view==="\
frontier";for(let e of[this.maps,this.sides,this.first])e.hidden=s;for(let e of[this.world.frontier.node,this.found])e.hidden=!s;(t.key==="d\
raws"?this.first:this.others).append(this.sliders.draws.node),this.side("training")}tell(){let{model:t,tool:s,truth:e}=this.world;for(let a of this.
chips.children){let{method:h}=a.dataset;a.setAttribute("aria-pressed",String(t.on.has(h))),a.style.setProperty("--method",k(h))}for(let a of this.
tools.children)a.setAttribute("aria-pressed",String(a.dataset.tool===s));this.tools.hidden=t.name!=="yours",this.truthButton.setAttribute("a\
ria-pressed",String(e)),this.ground.querySelector("select").value=t.name;let{sliders:o}=this;for(let[a,h]of Object.entries(t.settings))o[a].
value=h;o.bend.value=t.bend,o.ensemble.value=t.ensemble,o.shift.value=t.far,o.shift.text.textContent=$(t.far),o.rho.node.hidden=!t.on.has("s\
am"),o.radius.node.hidden=!t.on.has("sabma"),o.viT.node.hidden=!t.on.has("vi"),this.about.textContent=t.world.about;let r=[...t.on].some(a=>V[a])?
"q: a method's cloud of weights":"",n=[...[...t.on].map(a=>Oo[a]),r].filter(Boolean);this.names.textContent=`${n.join(". ")}.`}};function qs(i,t,s,e,o=!1){return w("div",{style:`--method:${k(i)}`,class:o?"pg-wins":""},w("span",{},t),w("b",{},s),w("small",{},e[0],w("br"),
e[1]))}var Be=i=>Number.isFinite(i)?i.toFixed(2):"–";function We({model:i,frontier:t,sequence:{card:s}}){if(s.view==="frontier")return t.numbers.
map(({method:r,nll:n,lambda:a})=>qs(r,L(r)[0],a,["curvature λ₁",`test NLL ${n}`]));if(s.counts&&(i.ends.length||!i.steps))return s.counts(
i).map(({name:r,value:n})=>qs("sabma",r,n,["runs end","in the meadow"]));let o=i.steps||i.ends.length?i.ranking(i.test)[0]?.method:"";return[
...i.runs.keys()].map(r=>{let n=Be(i.lossAt(i.test,r)),a=`training ${Be(i.lossAt(i.loss,r))}`;return qs(r,L(r)[0],n,["test loss",a],o===r)})}var ms=class{at=0;guess="";told=!1;constructor(t){this.world=t,this.steps=w("div",{class:"pg-steps",role:"group","aria-label":"questions"},...qt.
map((r,n)=>z(`${n+1} ${r.title}`,r.title,()=>this.go(n)))),this.ask=w("p",{class:"pg-ask"}),this.guesses=w("div",{class:"pg-guess",role:"gro\
up","aria-label":"your guess"}),this.answer=w("p",{class:"pg-answer",role:"status"}),this.next=z("Next →","the next question",()=>this.go(
this.at+1),{class:"pg-next"});let s=w("div",{},this.steps,this.ask),e=w("div",{class:"pg-choose"},this.guesses,this.next),o=w("div",{class:"\
pg-reply"},e,this.answer);this.node=w("div",{class:"pg-card"},s,o)}get card(){return qt[this.at]}go(t){this.at=t,this.guess="",this.told=!1,
this.world.begin(this.card),this.show()}show(){let{card:t}=this;[...this.steps.children].forEach((s,e)=>{e===this.at?s.setAttribute("aria-cu\
rrent","step"):s.removeAttribute("aria-current")}),this.ask.textContent=t.ask,this.guesses.replaceChildren(...t.guesses.map(([s,e])=>z(e,`gu\
ess: ${e}`,()=>this.take(s),{"data-guess":s}))),this.answer.textContent="Your guess?",this.next.hidden=!0}take(t){this.guess=t,this.told=!1;
for(let s of this.guesses.children)s.setAttribute("aria-pressed",String(s.dataset.guess===t));this.answer.textContent="They train …",this.
world.run(this.card),this.tell()}tell(){let{card:t,world:s}=this;if(!this.guess||this.told||!Le(t,s.model))return;this.told=!0;let e=t.truth(
s.model)===this.guess;this.answer.replaceChildren(w("b",{},e?"You guessed right. ":"Not quite. "),t.answer(s.model));for(let o of this.guesses.
children)o.classList.toggle("pg-right",o.dataset.guess===t.truth(s.model));this.next.hidden=this.at===qt.length-1,t.view==="grounds"&&s.side(
"test")}};var qo=150,Po=6,Co=2e3,us=class{tool="start";truth=!1;due=0;frames=0;still=[];constructor(t={}){this.model=new ns(()=>this.shown(!0));let s=o=>new ds(
(r,n,a,h,l)=>o(new ps(r,n,a,h,l)));this.training=s(o=>ze(o,this.model,this.truth?this.training:null)),this.testing=s(o=>Re(o,this.model));let e=(o,r=.8)=>new X(
(n,a,h)=>o(this.model,n,a,h),{ratio:r,label:"",least:230,most:300});this.section=e(ye,.56),this.traces=e(ke),this.chart=e(Se),this.frontier=
new cs,this.sequence=new ms(this),this.panel=new gs(this,t.link!==!1),this.node=this.panel.node,Fe(this),De(this),this.lay(),t.link!==!1&&this.
read(new URLSearchParams(location.search)),this.clock=new $t(this.training.board.node,o=>this.frame(o)),this.sequence.show(),this.begin(qt[0],
!1)}side(t){this.panel.side(t)}begin(t,s=!0){let e=t.view==="frontier";this.play(!1),this.panel.show(t),s&&!e&&(this.model.seed=1,this.model.
on=new Set(t.on??["vi","sabma"]),this.model.choose("hollow"),Object.assign(this.model.settings,t.set),this.model.moveTest([Ls,0],0),this.lay()),
e&&this.frontier.show({open:!1,radius:1}),this.again(!1)}run(t){t.view==="frontier"?this.frontier.show({open:!0}):t.seeds?this.model.many(["\
sabma"],s=>t.tell(this.model,s),t.seeds):(Object.assign(this.model.settings,t.then),this.train()),this.tell()}choose(t){this.model.choose(t),
this.lay(),this.train()}lay(){let{model:t}=this;this.training.lay(t.loss,t.world.top),this.testing.lay(t.test,t.world.top),this.tool=t.name===
"yours"?"down":"start"}read(t){t.size&&(this.model.read(t,fs),this.lay())}moveTest(t,s=this.model.bend){this.model.moveTest(t,s),this.testing.
lay(this.model.test,this.model.world.top),this.side("test"),this.shown(!0)}moveStart(t,s){this.play(!1);let{start:e}=this.model;this.tool===
"start"&&(this.model.start=[e[0]+t,e[1]+s]),this.again(!1)}average(t){this.model.ensemble=t,this.shown(!0)}toggle(t){let{on:s}=this.model;s.
has(t)&&s.size===1||(s.has(t)?s.delete(t):s.add(t),this.train())}play(t){if(t&&this.model.over&&this.model.rest(),this.clock?.play(t),this.panel.
playButton.textContent=t?"Pause":"Play",this.tell(),!t){for(let s of this.still)s(this);this.model.over&&this.model.compareT()}}train(){this.
again(),Zt.matches?(this.model.advance(et),this.play(!1),this.shown(!0)):this.play(!0)}again(t=!0){this.model.rest(t),this.training.density=
null,this.shown(!0);for(let s of this.still)s(this)}advance(t){this.model.advance(t),this.shown()}frame(t){this.due+=t*qo;let s=Math.min(Po,
Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&this.advance(s),this.model.over&&(this.play(!1),this.shown(!0))}many(){this.play(!1),
this.model.many([...this.model.on],()=>me(this.model)),this.shown(!0)}recolor(){this.tell(),this.draw(!0),this.frontier.board.draw()}draw(t=!this.
clock?.playing){this.frames+=1,this.training.board.draw(),this.testing.board.draw(),this.panel.more.open&&((t||this.frames%3===1)&&this.section.
draw(),(t||this.frames%6===0)&&(this.traces.draw(),this.chart.draw()))}shown(t=!1){let{model:s}=this;if(this.draw(),this.clock?.playing||this.
tell(),(t||s.steps%4===0)&&this.tellScore(),!(t||!this.clock?.playing||s.steps%12===0))return;let e=s.tally||ge(s);this.panel.verdict.textContent=
e,this.training.board.say(`${s.world.label}, seen from above. ${e}`);let o=`the training ground shifted by ${$(s.far)}`,r=s.bend?` and bent \
by ${s.bend}`:"";this.testing.board.say(`The test ground: ${o}${r}. ${hs(s)}`),this.section.say("Section of the ground through a mean, with \
the posteriors above it."),this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${e}`),this.chart.say(`After a run: test l\
osses over temperature, radius or seeds. ${e}`),this.sequence.tell()}tell(){this.panel.tell()}tellScore(){this.panel.score.replaceChildren(...We(
this))}share(t){let s=new URL(`?${this.model.query}`,location.href).href;history.replaceState(null,"",`?${this.model.query}${location.hash}`);
let e=r=>{t.textContent=r},o=navigator.clipboard?.writeText(s);Promise.resolve(o).then(()=>e("Copied"),()=>e("In the address")),setTimeout(()=>e(
"Link"),Co)}picture(){let s=[this.training.board,this.testing.board].map(({canvas:n})=>n).filter(n=>n.checkVisibility()),e=s.reduce((n,a)=>n+
a.width,0),o=w("canvas",{width:e,height:s[0].height}),r=0;for(let n of s)o.getContext("2d").drawImage(n,r,0),r+=n.width;ae(o.toDataURL("imag\
e/png"),`flatviz-${this.model.name}.png`)}};var Fo={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{radius:1,kappa:1}};function je(i,t={}){let s=w(
"div",{class:"pg"});Cs(s),s.append(w("style",{},se));let e=new URLSearchParams(t.link===!1?"":location.search),o=e.has("embed"),r={},n=t.worlds??
["weights","step","network","gap"],a=new Set(o?n.slice(0,1):n);document.documentElement.classList.toggle("pg-embedded",o);let h=(g,p,c)=>s.append(
w("h2",{},g),...p.map(f=>w("p",{},f)),c);(a.has("weights")||a.has("step"))&&(r.weights=new us(t),s.append(r.weights.node));let l=()=>{a.has(
"step")&&(r.step=new is(r.weights),h("One step of SA-BMA",["The next step of SA-BMA's cloud on the ground above, once its run rests."],r.step.
node)),a.has("network")&&(r.network=new Bt(t),h("A network of about fifty weights",["The same two methods train a network. Where it is flat,\
 the rings of the loss around the draws are wide. On spirals the flatter training mostly has the lower test loss as well; on the moons it is\
 a matter of the seed. Click on a picture to add a point."],r.network.node)),a.has("gap")&&(r.gap=new Bt({...t,...Fo}),h("A regression with \
a gap",["No points lie in the middle, so an honest answer is unsure there. HMC, Hamiltonian Monte Carlo, draws from the exact posterior, if \
it runs long enough: its band is narrow at the points and wide between them. VI and SA-BMA fit one Gaussian: after some hundred steps their \
bands are too wide at the points and widen less in the middle."],r.gap.node)),s.playground=r},d=()=>{s.dataset.theme=U()?"dark":"light";for(let g of Object.
values(r))g.recolor()};return i.replaceChildren(s),d(),r.weights?setTimeout(l,50):l(),Ps(d)}var Do={render:({model:i,el:t})=>je(t,{worlds:i.
get("worlds"),autoplay:!1,link:!1})};return Xe(zo);})();
