var flatvizPlayground=(()=>{var bs=Object.defineProperty;var Ke=Object.getOwnPropertyDescriptor;var Je=Object.getOwnPropertyNames;var Qe=Object.prototype.hasOwnProperty;var Ze=(i,t)=>{for(var s in t)bs(i,s,{get:t[s],enumerable:!0})},to=(i,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let o of Je(
t))!Qe.call(i,o)&&o!==s&&bs(i,o,{get:()=>t[o],enumerable:!(e=Ke(t,o))||e.enumerable});return i};var so=i=>to(bs({},"__esModule",{value:!0}),i);var _o={};Ze(_o,{default:()=>Yo,mount:()=>Ve});function w(i,t={},...s){let e=document.createElement(i);for(let[o,r]of Object.entries(t))typeof r=="function"?e.addEventListener(o.slice(2),
r):r!=null&&r!==!1&&e.setAttribute(o,r===!0?"":String(r));return e.append(...s.filter(o=>o!=null)),e}var D=(i,t,s,e={})=>w("button",{type:"button",title:t,onclick:s,...e},i),Ct=i=>i.getContext("2d"),Fs=i=>Number(i.toPrecision(3)).toString();var Ut=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function Cs(i,t){let s=w("a",{href:i,download:t});document.body.append(s),s.click(),s.remove()}function X(){let{body:i,documentElement:t}=document;return i.dataset.jpThemeLight?i.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Ds(i){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(i);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",i),()=>{
s.disconnect(),t.removeEventListener("change",i)}}function Rs(i){i.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return i.addEventListener("keydown",t),()=>i.removeEventListener("keydown",t)}var tt=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},Y=(i,t)=>{let s=0;for(let e=0;e<i.length;e++)
s+=i[e]*t[e];return s},nt=i=>Math.sqrt(Y(i,i)),W=(i,t,s=1)=>i.map((e,o)=>e+s*t[o]),O=i=>new Float64Array(i),zs=1e-12;var eo={bowl:({at:[i,t],h:s},e,o,r)=>(r[0]+=s*(e-i),r[1]+=s*(o-t),.5*s*((e-i)**2+(o-t)**2)),dent:({at:[i,t],depth:s,width:e},o,r,a)=>{let[n,
h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*(((o-i)/n)**2+((r-t)/h)**2));return a[0]+=l*(o-i)/(n*n),a[1]+=l*(r-t)/(h*h),-l},valley:({k:i,a:t,
b:s},e,o,r)=>{let a=o-t*e*e-s;return r[0]-=2*i*a*t*e,r[1]+=i*a,.5*i*a*a},wall:({at:i,height:t,soft:s},e,o,r)=>{let a=Math.tanh((e-i)/s);return r[0]+=
t*(1-a*a)/(2*s),.5*t*(1+a)},modes:({a:i,b:t,narrow:s,ratio:e},o,r,a)=>{let n=s*e,h=((o-i[0])**2+(r-i[1])**2)/(2*s**2),l=((o-t[0])**2+(r-t[1])**
2)/(2*n**2),c=Math.min(h,l),f=Math.exp(c-h),g=Math.exp(c-l),d=f/(f+g);return a[0]+=d*(o-i[0])/s**2+(1-d)*(o-t[0])/n**2,a[1]+=d*(r-i[1])/s**2+
(1-d)*(r-t[1])/n**2,c-Math.log(f+g)+Math.log(2)}},oo=(i,t,s,e)=>eo[i.kind](i,t,s,e),io=O(2);function Bs(i){return{dim:2,both(t,s){let e=s??io;
e[0]=e[1]=0;let o=0;for(let r of i)o+=oo(r,t[0],t[1],e);return o}}}function Ws(i,[t,s],e){let o=O(2);return{dim:2,both(r,a){o[0]=r[0]-t,o[1]=
r[1]-s-e*(r[0]*r[0]-1);let n=i.both(o,a);return a&&(a[0]-=2*e*r[0]*a[1]),n}}}var Vt=class{constructor(t){this.widths=t,this.starts=[],this.dim=
0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=t[s]*(t[s-1]+1);this.a=t.map(O),this.d=t.map(O)}init(t,s=1){let e=O(this.dim);
return this.starts.forEach((o,r)=>{let a=this.widths[r+1]*(this.widths[r]+1);for(let n=0;n<a;n++)e[o+n]=s*t.normal()/Math.sqrt(this.widths[r])}),
e}forward(t,s,e){let{a:o,widths:r,starts:a}=this,n=r.length-1;for(let h=0;h<r[0];h++)o[0][h]=s[e+h];for(let h=0;h<n;h++){let l=o[h],c=o[h+1],
f=r[h],g=r[h+1],d=a[h]+f*g;for(let p=0,u=a[h];p<g;p++){let m=t[d+p];for(let b=0;b<f;b++)m+=t[u++]*l[b];c[p]=h+1<n?Math.tanh(m):m}}return o[n]}backward(t,s){
let{a:e,d:o,widths:r,starts:a}=this;for(let n=r.length-2;n>=0;n--){let h=e[n],l=o[n+1],c=o[n],f=r[n],g=r[n+1],d=a[n]+f*g;c.fill(0);for(let p=0,
u=a[n];p<g;p++){let m=l[p];s[d+p]+=m;for(let b=0;b<f;b++,u++)s[u]+=m*h[b],c[b]+=m*t[u]}if(n>0)for(let p=0;p<f;p++)c[p]*=1-h[p]*h[p]}}},ro=.5*
Math.log(2*Math.PI);function js(i,{x:t,y:s,noise:e}){let o=s.length,{widths:r,d:a}=i,n=r[0],h=r[r.length-1],l=a[a.length-1];return{dim:i.dim,
both(c,f){f&&f.fill(0);let g=0;for(let d=0;d<o;d++){let p=i.forward(c,t,d*n);if(e){let u=(p[0]-s[d])/e;g+=.5*u*u+Math.log(e)+ro,l[0]=u/e/o}else{
let u=-1/0,m=0;for(let b=0;b<h;b++)u=Math.max(u,p[b]);for(let b=0;b<h;b++)l[b]=Math.exp(p[b]-u),m+=l[b];g+=u+Math.log(m)-p[s[d]];for(let b=0;b<
h;b++)l[b]=(l[b]/m-(b===s[d]?1:0))/o}f&&i.backward(c,f)}return g/o}}}var Mt=(i,t)=>i.mean.map((s,e)=>s+Math.exp(i.logStd[e])*t[e]),ht=i=>({mean:i.mean.slice(),logStd:i.logStd.slice()});function ct(i,t,s){let e={
value:0,mean:O(i.dim),logStd:O(i.dim)},o=O(i.dim);for(let r of s){e.value+=i.both(Mt(t,r),o)/s.length;for(let a=0;a<o.length;a++)e.mean[a]+=
o[a]/s.length,e.logStd[a]+=o[a]*Math.exp(t.logStd[a])*r[a]/s.length}return e}function Dt(i,t){let s={value:0,mean:O(i.mean.length),logStd:O(
i.mean.length)};for(let e=0;e<i.mean.length;e++){let o=Math.exp(-2*t.logStd[e]),r=i.mean[e]-t.mean[e],a=Math.exp(2*i.logStd[e])*o;s.value+=.5*
(a+r*r*o-1)+t.logStd[e]-i.logStd[e],s.mean[e]=o*r,s.logStd[e]=a-1}return s}function xs(i,t,s){let e=t.mean.map((l,c)=>Math.exp(2*i.logStd[c])*
l),o=t.logStd.map(l=>l/2),r=Y(t.mean,e),a=Math.max(r+Y(t.logStd,o),1e-300),n=s/Math.sqrt(a),h={mean:e.map(l=>n*l),logStd:o.map(l=>n*l)};return{
delta:h,share:r/a,there:{mean:W(i.mean,h.mean),logStd:W(i.logStd,h.logStd)}}}var ao=(i,t)=>{let s=t/(nt(i)+zs);return i.map(e=>e*s)},no=.2,Xt=.9,
Rt=i=>({mean:O(i),squares:O(i+1),filled:0});function Gs(i,t,s,e,o,{rate:r,momentum:a,T:n}){let h=Dt(i,e),l=i.mean.length,c=O(l),f=O(l),g=n||
1,d=i.logStd.map(Math.exp);for(let u=0;u<l;u++){let m=Math.exp(-2*e.logStd[u]),b=1/(d[u]*d[u]);if(c[u]=s.mean[u]/g,f[u]=s.logStd[u]/g,n)for(let x of o){
let y=m*(i.mean[u]-e.mean[u])+(m-b)*d[u]*x[u];c[u]+=y/o.length,f[u]+=y*d[u]*x[u]/o.length}}t.filled=Xt*t.filled+1-Xt;let p=t.squares.map((u,m)=>{
let b=m?f[m-1]*f[m-1]:c.reduce((x,y,v)=>x+y*y*d[v]*d[v],0);return t.squares[m]=Xt*u+(1-Xt)*b,1/(1+Math.sqrt(t.squares[m]/t.filled))});for(let u=0;u<
l;u++)t.mean[u]=a*t.mean[u]+p[0]*d[u]*d[u]*c[u],i.mean[u]-=r*t.mean[u],i.logStd[u]-=.5*no*r*p[u+1]*f[u];return h}function zt(i,t,s,e,o,r){let a=ct(
i,t,o);return{from:ht(t),g:a,pull:Gs(t,s,a,e,o,r)}}function Jt(i,t,s,e,o,r){if(r.radius===0)return zt(i,t,s,e,o,r);let a=ht(t),n=ct(i,t,o),h=xs(
t,n,r.radius),l=ct(i,h.there,o);return{from:a,g:n,...h,worst:l,pull:Gs(t,s,l,e,o,r)}}function Qt(i,t,s,e,{rate:o,momentum:r,T:a,radius:n=0}){
let h=t.slice(),l=O(t.length),c=i.both(t,l),f=n?ao(l,n):null,g=O(t.length),d=f?i.both(W(t,f),g):(g.set(l),c);for(let p=0;p<t.length;p++)s[p]=
r*s[p]+g[p]+a*Math.exp(-2*e.logStd[p])*(t[p]-e.mean[p]),t[p]-=o*s[p];return{from:h,value:c,at:d,g:l,e:f,there:g}}function Hs(i,t,s,e,{rate:o,
T:r}){let a=O(t.length),n=i.both(t,a);for(let h=0;h<t.length;h++){let l=r*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-o*(a[h]+l)+Math.sqrt(
2*o*r)*e[h]}return{value:n,g:a}}function Ys(i,t,s,e){let o=O(e.length),r=i.both(Mt(t,e),o);for(let a=0;a<e.length;a++)o[a]=o[a]*Math.exp(t.logStd[a])/
s+e[a];return{value:r/s+.5*Y(e,e),slope:o,mean:r}}function ho(i,t,s,e,o,r,a){let n=W(s,e.slope,-.5*o);for(let h=0;h<r;h++)t=W(t,n,o),e=i(t),
n=W(n,e.slope,h<r-1?-o:-.5*o),a?.push(t);return{z:t,momentum:n,at:e}}var Kt=class{t;error;accept;first;average;constructor(t,s=.8){this.t=0,
this.error=0,this.log=Math.log(t),this.average=Math.log(t),this.first=Math.log(t),this.accept=s}get size(){return Math.exp(this.log)}follow(t){
this.t+=1,this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=
this.t**-.75*(this.log-this.average)}settle(){this.t=0,this.error=0,this.log=this.average,this.first=this.average}};function _s(i,t,s,e,o,r,a,{
time:n=Math.PI/2,most:h=500,path:l=void 0}={}){let c=Math.min(h,Math.ceil(o*n/a)),f=ho(i,t,e,s,a,c,l),g=s.value+.5*Y(e,e)-f.at.value-.5*Y(f.
momentum,f.momentum),d=Number.isFinite(g)?Math.exp(Math.min(0,g)):0;return r<d?{z:f.z,at:f.at,rate:d,n:c,taken:!0}:{z:t,at:s,rate:d,n:c,taken:!1}}var Bt=["gd","sam","vi","sabma","sgld","hmc"],_={vi:!0,sabma:!0},dt={sgld:!0,hmc:!0},Tt=class{last=null;kept=[];constructor(t,s,e,o,r,a){this.
method=t,this.loss=s,this.prior=e,this.settings=r,this.random=new tt(a),this.steps=0,this.q=ht(o),this.velocity=Rt(s.dim),this.z=o.mean.map(
(n,h)=>(n-e.mean[h])/Math.exp(e.logStd[h])),this.size=new Kt(.1)}get finite(){return this.q.mean.every(t=>Number.isFinite(t)&&Math.abs(t)<1e6)&&
this.q.logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(this.loss.dim))}step(){let{
method:t,loss:s,q:e,velocity:o,prior:r,settings:a}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let n=this.noise(),l=(t==="vi"?zt:Jt)(s,e,o,
r,n,a);this.last=l}else if(t==="gd"||t==="sam"){let n=t==="sam"?a.radius:0;this.last=Qt(s,e.mean,o.mean,r,{...a,radius:n})}else t==="sgld"?(this.
last=Hs(s,e.mean,r,this.random.normals(s.dim),a),this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,
settings:e,random:o}=this,r=g=>Ys(t,s,e.T,g),a=[],n=o.normals(t.dim),h=.5+o.uniform(),l=o.uniform(),c={path:a,most:e.most??200},f=_s(r,this.
z,r(this.z),n,h,l,this.size.size,c);this.last={...f,path:a.map(g=>Mt(s,g))},this.z=f.z,this.steps<=60&&this.size.follow(f.rate),this.steps===
60&&this.size.settle(),this.q.mean.set(Mt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.push(t),this.kept.length>
400&&this.kept.shift())}members(t,s){if(_[this.method])return s.slice(0,t).map(e=>Mt(this.q,e));if(dt[this.method]&&this.kept.length){let e=Math.
max(1,Math.floor(this.kept.length/2/t));return this.kept.filter((o,r)=>(this.kept.length-1-r)%e===0).slice(-t)}return[this.q.mean]}};function lo(i,t,s){let e=.001/Math.max(nt(s),1e-300),o=l=>{let c=O(t.length);return i.both(W(t,s,l*e),c),c},[r,a,n,h]=[o(1),o(-1),o(2),o(-2)];
return r.map((l,c)=>(8*(r[c]-a[c])-(n[c]-h[c]))/(12*e))}function At(i,t,s,e=40,o=null){let r=t.length,a=Math.min(r,e),n=[],h=[],l=[],c=new tt(
0).normals(r);for(let{vector:d}of o??[])c=W(c,d,10*Math.sqrt(r));c=c.map(d=>d/nt(c));for(let d=0;d<a;d++){n.push(c);let p=lo(i,t,c);h.push(Y(
c,p));for(let m=0;m<2;m++)for(let b of n)p=W(p,b,-Y(b,p));let u=nt(p);if(d===a-1||u<1e-9)break;l.push(u),c=p.map(m=>m/u)}let f=n.length,g=Array.
from({length:f},(d,p)=>Float64Array.from({length:f},(u,m)=>p===m?h[p]:Math.abs(p-m)===1?l[Math.min(p,m)]:0));return co(g).slice(0,s).map(({value:d,
vector:p})=>{let u=O(r);return n.forEach((m,b)=>{for(let x=0;x<r;x++)u[x]+=p[b]*m[x]}),{value:d,vector:u}})}function co(i){let t=i.length,s=i.
map((e,o)=>Float64Array.from({length:t},(r,a)=>o===a?1:0));for(let e=0;e<40;e++){let o=0;for(let r=0;r<t;r++)for(let a=r+1;a<t;a++){if(o+=i[r][a]**
2,Math.abs(i[r][a])<1e-300)continue;let n=(i[a][a]-i[r][r])/(2*i[r][a]),h=(n>=0?1:-1)/(Math.abs(n)+Math.hypot(n,1)),l=1/Math.hypot(h,1),c=h*
l;for(let f=0;f<t;f++){let g=i[f][r],d=i[f][a];i[f][r]=l*g-c*d,i[f][a]=c*g+l*d}for(let f=0;f<t;f++){let g=i[r][f],d=i[a][f];i[r][f]=l*g-c*d,
i[a][f]=c*g+l*d}for(let f=0;f<t;f++){let g=s[f][r],d=s[f][a];s[f][r]=l*g-c*d,s[f][a]=c*g+l*d}}if(o<1e-24)break}return i.map((e,o)=>({value:e[o],
vector:s.map(r=>r[o])})).sort((e,o)=>o.value-e.value)}var vs=[];for(let i=-4.5;i<=4.5;i+=.5)for(let t=-4.5;t<=4.5;t+=.5)vs.push([i,t,Math.exp(
-.5*(i*i+t*t))]);var po=vs.reduce((i,t)=>i+t[2],0);function Zt(i,t){let[s,e]=t.logStd.map(Math.exp),o=O(2),r=0;for(let[a,n,h]of vs)o[0]=t.mean[0]+
s*a,o[1]=t.mean[1]+e*n,r+=h*i.both(o,null);return r/po}function Us(i,t,s){let e=i.both(t,null);for(let o=1;o<=4;o++)for(let r=0;r<32;r++){let a=s*
o/4,n=2*Math.PI*r/32;e=Math.max(e,i.both([t[0]+a*Math.cos(n),t[1]+a*Math.sin(n)],null))}return e}function ys(i,t,s){let e=-1/0,o=0;for(let r of i)e=Math.max(e,r);for(let r=0;r<i.length;r++)t[s+r]=Math.exp(i[r]-e),o+=t[s+r];for(let r=0;r<
i.length;r++)t[s+r]/=o}function Vs(i,t,s){let e=i.widths[0],o=i.widths[i.widths.length-1],r=s.length/e,a=O(r*o),n=O(r*o);for(let h of t){for(let l=0;l<
r;l++)ys(i.forward(h,s,l*e),n,l*o);for(let l=0;l<a.length;l++)a[l]+=n[l]/t.length}return a}function Xs(i,t){let s=i.length/t.length;return t.
reduce((e,o,r)=>e-Math.log(Math.max(i[r*s+o],1e-300)),0)/t.length}function Ks(i,t){let s=i.length/t.length;return t.filter((e,o)=>{for(let r=0;r<
s;r++)if(i[o*s+r]>i[o*s+e])return!1;return!0}).length/t.length}function Js(i,t,s=15){let e=i.length/t.length,o=O(s);return t.forEach((r,a)=>{
let n=0;for(let c=1;c<e;c++)i[a*e+c]>i[a*e+n]&&(n=c);let h=i[a*e+n],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));o[l]+=(n===r?1:0)-h}),o.reduce(
(r,a)=>r+Math.abs(a),0)/t.length}var ks=[[78,134,181],[214,133,62]],Ss={spiral:"spirals",moons:"two moons",circles:"circles",xor:"XOR",none:"your points alone, two of each o\
r more"},Qs="a regression with a gap",ts={one:["one layer of 12",[12]],two:["two layers of 8",[8,8]]};var $=i=>Number.isFinite(i)?Fs(i):"–",I=i=>METHOD_STYLES[i],k=i=>I(i)[X()?2:1],ot=class{constructor(t,s,e,o,{say:r=n=>String(n),help:a=""}={}){
this.stops=s,this.say=r,this.input=w("input",{type:"range",min:0,max:s.length-1,step:1,"aria-label":t}),this.text=w("output"),this.node=w("d\
iv",{class:"pg-slider",title:a||null},w("span",{},t),this.text,this.input),this.input.addEventListener("input",()=>{this.told(),o(this.value,
!1)}),this.input.addEventListener("change",()=>o(this.value,!0)),this.value=e}get value(){return this.stops[Number(this.input.value)]}set value(t){
let s=this.stops.map(e=>Math.abs(e-t));this.input.value=String(s.indexOf(Math.min(...s))),this.told()}told(){this.text.textContent=this.say(
this.value),this.input.setAttribute("aria-valuetext",this.text.textContent)}};function pt(i,t,s,e){let o=w("select",{"aria-label":i},...t.map(
([r,a])=>w("option",{value:r,selected:r===s},a)));return o.addEventListener("change",()=>e(o.value)),w("label",{class:"pg-menu"},w("span",{},
i),o)}var U=class{width=0;height=0;dense=1;constructor(t,{ratio:s,label:e,least:o=0,most:r=1/0}){this.canvas=w("canvas",{role:"img","aria-la\
bel":e}),this.node=w("div",{class:"pg-board"},this.canvas),this.paint=t,this.ratio=s,this.least=o,this.most=r,new ResizeObserver(()=>this.fit()).
observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.min(this.most,Math.max(this.least,t*this.ratio)));if(!t||
t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);this.width=t,this.height=s,this.dense=e,Object.assign(this.canvas,
{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.width)
return;let t=Ct(this.canvas);t.setTransform(this.dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap="rou\
nd",this.paint(t,this.width,this.height)}say(t){this.canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},$t=class{constructor(t,s){
this.frame=s,this.playing=!1,this.visible=!1,this.request=0,this.last=0,new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.
wake()},{threshold:.05}).observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=
performance.now();let t=s=>{if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.request=requestAnimationFrame(
t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}},fo={light:{ink:"#1f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",
low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"\
#3a434d",low:[14,54,74],high:[72,67,60],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},A=()=>fo[X()?"dark":"light"];function S(i,t,s,e,{color:o=A().
ink,size:r=13,align:a="left",weight:n=400,halo:h=!0,base:l="middle"}={}){i.font=`${n} ${r}px system-ui, -apple-system, "Segoe UI", Helvetica\
, Arial, sans-serif`,i.textAlign=a,i.textBaseline=l,h&&(i.lineWidth=3.5,i.strokeStyle=A().halo,i.strokeText(t,s,e)),i.fillStyle=o,i.fillText(
t,s,e)}function K(i,t,s,e,o,r){if(i.beginPath(),i.lineWidth=2.5,i.strokeStyle=i.fillStyle=r,t==="x"){i.moveTo(s-o,e-o),i.lineTo(s+o,e+o),i.moveTo(
s+o,e-o),i.lineTo(s-o,e+o),i.stroke();return}if(t==="cross"){i.moveTo(s-o,e),i.lineTo(s+o,e),i.moveTo(s,e-o),i.lineTo(s,e+o),i.stroke();return}
t==="square"?i.rect(s-o,e-o,2*o,2*o):t==="triangle-up"?(i.moveTo(s,e-1.2*o),i.lineTo(s+1.1*o,e+o),i.lineTo(s-1.1*o,e+o),i.closePath()):i.arc(
s,e,o,0,2*Math.PI),i.fill(),i.lineWidth=1.5,i.strokeStyle=A().paper,i.stroke()}function Zs(i,t,s,e=()=>0){let{low:o,high:r}=A();return go(t,
s,a=>{let n=1+e(Math.floor(a/s),a%s);return o.map((h,l)=>(h+(r[l]-h)*i[a])*n)})}function go(i,t,s){let e=w("canvas",{width:t,height:i}),o=Ct(
e),r=o.createImageData(t,i);for(let a=0;a<i*t;a++)r.data.set([...s(a),255],4*a);return o.putImageData(r,0,0),e}function ft(i,t,s,e){let o=[],
r=(a,n)=>(e-a)/(n-a);for(let a=0;a+1<t;a++)for(let n=0;n+1<s;n++){let h=a*s+n,l=i[h],c=i[h+1],f=i[h+s+1],g=i[h+s],d=[];l<e!=c<e&&d.push([n+r(
l,c),a]),c<e!=f<e&&d.push([n+1,a+r(c,f)]),g<e!=f<e&&d.push([n+r(g,f),a+1]),l<e!=g<e&&d.push([n,a+r(l,g)]);for(let p=0;p+1<d.length;p+=2)o.push(
[...d[p],...d[p+1]])}return o}function gt(i,t,s,e,o,r){i.beginPath();for(let[a,n,h,l]of t)i.moveTo(a/(e-1)*o,n/(s-1)*r),i.lineTo(h/(e-1)*o,l/
(s-1)*r);i.stroke()}function ss(i,t,s,e,o,r,a,{log:n=!1,most:h=0}={}){let l=A(),c=52,f=v=>n?Math.log10(Math.max(v,1e-6)):v,g=a.flatMap(v=>v.y.filter(Number.isFinite).
map(f)),[d,p]=[Math.min(...g),Math.max(...g)];g.length||([d,p]=[0,1]);let u=n?.6:.05*Math.max(1,Math.abs(p));p-d<u&&([d,p]=[(d+p-u)/2,(d+p+u)/
2]);let m=Math.max(h,...a.map(v=>v.x.at(-1)??0),10),b=v=>t+(e-c)*v/m,x=v=>s+o-7-(o-32)*(f(v)-d)/(p-d);i.strokeStyle=l.line,i.lineWidth=1,i.beginPath(),
i.moveTo(t,s+o-.5),i.lineTo(t+e-c,s+o-.5),i.stroke(),S(i,r,t,s+9,{color:l.soft,size:12.5,halo:!1});let y=[];for(let v of a){i.beginPath(),v.
y.forEach((C,P)=>{Number.isFinite(C)&&i.lineTo(b(v.x[P]),x(C))}),i.strokeStyle=v.color,i.globalAlpha=v.faint?.25:v.thin?.6:1,i.lineWidth=v.faint||
v.thin?1.2:2.4,i.stroke(),i.globalAlpha=1;let M=v.y[v.y.length-1];!v.faint&&!v.thin&&Number.isFinite(M)&&y.push({x:b(v.x[v.x.length-1])+6,y:x(
M),text:$(M),color:v.color})}y.sort((v,M)=>v.y-M.y),y.forEach((v,M)=>{M&&v.y<y[M-1].y+14&&(v.y=y[M-1].y+14)});for(let v=y.length-1,M=s+o;v>=
0;M=y[v].y-14,v--)y[v].y=Math.min(y[v].y,M);for(let v of y)S(i,v.text,v.x,v.y,{color:v.color,size:12.5,weight:600})}function te(i,t,s,e){let o=X(),r=o?[21,25,30]:[255,255,255],a=w("canvas",{width:27,height:27}),n=a.getContext("2d"),h=n.createImageData(27,27),
l=A(),c=k(i.method);i.mean.forEach((m,b)=>{let x=Math.abs(2*m-1),y=ks[m>.5?1:0];for(let v=0;v<3;v++)h.data[4*b+v]=r[v]+(y[v]-r[v])*.75*x;h.data[4*
b+3]=255}),n.putImageData(h,0,0),t.imageSmoothingQuality="high",t.drawImage(a,.5,.5,26,26,0,0,s,e);let f=(m,b)=>gt(t,ft(m,27,27,b),27,27,s,e);
t.strokeStyle=l.ink,t.lineWidth=1.2,t.globalAlpha=.28;for(let m of i.shadows)f(m.field,0);if(t.strokeStyle=c,t.globalAlpha=.55,t.lineWidth=1.1,
i.fields.length>1)for(let m of i.fields)f(m,.5);t.globalAlpha=1,t.lineWidth=2.6,f(i.mean,.5);let{x:g,y:d}=i.world.train,[p,u]=[2.4,2];d.forEach(
(m,b)=>{let x=(g[2*b]/p+1)/2*s,y=(1-g[2*b+1]/u)/2*e;t.fillStyle=`rgb(${ks[m].map(v=>o?Math.min(255,1.35*v):.8*v).join()})`,t.strokeStyle=l.paper,
t.lineWidth=1.5,t.beginPath(),m?t.rect(x-4.5,y-4.5,9,9):t.arc(x,y,5,0,7),t.fill(),t.stroke()}),S(t,"pale: unsure",8,e-12,{size:12.5,color:l.
soft}),S(t,i.fields.length>1?"thin lines: the draws":"one point: one line",s-8,e-12,{size:12.5,color:l.soft,align:"right"})}function se(i,t,s,e){
let o=A(),r=k(i.method),a=i.mean.length,n=p=>p/(a-1)*s,h=Math.max(...i.world.panes.map(p=>p.highest)),l=p=>e/2-p/h*e/2,c=i.spread;t.fillStyle=
t.strokeStyle=r,t.beginPath(),i.mean.forEach((p,u)=>t.lineTo(n(u),l(p+c[u])));for(let p=a-1;p>=0;p--)t.lineTo(n(p),l(i.mean[p]-c[p]));t.globalAlpha=
.16,t.fill(),t.globalAlpha=1;let f=(p,u,m)=>{t.beginPath(),p.forEach((b,x)=>t.lineTo(n(x),l(b))),t.globalAlpha=u,t.lineWidth=m,t.stroke(),t.
globalAlpha=1};t.strokeStyle=o.ink;for(let p of i.shadows)f(p.field,.25,1.2);if(t.strokeStyle=r,i.fields.length>1)for(let p of i.fields)f(p,
.45,1.1);f(i.mean,1,2.6);let{x:g,y:d}=i.world.train;t.fillStyle=o.ink,d.forEach((p,u)=>{t.beginPath(),t.arc((g[u]/3+1)/2*s,l(p),3.6,0,7),t.fill()}),
i===i.world.panes[0]&&S(t,"band: two standard deviations",8,e-12,{size:12.5,color:o.soft})}function ee(i,t,s,e){let o=A();if(!i.drawn){S(t,"\
loss on the plane of the two sharpest directions",2,10,{color:o.soft,size:12.5,halo:!1});return}let{values:r,axes:a,center:n}=i.drawn,h=Math.
min(...r),l=r.map(d=>Math.min(1,(d-h)/i.world.high)),c=w("canvas",{width:23,height:23}),f=c.getContext("2d"),g=f.createImageData(23,23);l.forEach(
(d,p)=>{for(let u=0;u<3;u++)g.data[4*p+u]=o.low[u]+(o.high[u]-o.low[u])*d;g.data[4*p+3]=255}),f.putImageData(g,0,0),t.drawImage(c,.5,.5,22,22,
0,0,s,e),t.strokeStyle=X()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let d=1;d<10;d++)gt(t,ft(l,23,23,d/10),23,23,s,e);t.
fillStyle=k(i.method);for(let d of i.members()){let p=W(d,n,-1);t.beginPath(),t.arc((Y(p,a[0].vector)/1.2+1)/2*s,(1-2*Y(p,a[1].vector)/1.2)/
2*e,3,0,7),t.fill()}S(t,`loss, two sharpest directions · λ₁ = ${$(a[0].value)}`,6,12,{color:o.ink,size:12.5})}function oe(i,t,s,e){if(!i.
steps){let l={color:A().soft,size:15,halo:!1};S(t,"Play draws the scores against the steps here.",0,12,l);return}let o=[[i.kind==="gap"?"tes\
t NLL":"test loss","test"],["calibration error, ECE","ece"],["λ₁ of the training loss","lambda"]].filter(([,l])=>l!=="ece"||i.kind!=="gap"),
r=s<620,a=r&&o.length>2?1:o.length,n=(s-14*(a-1))/a,h=e*a/o.length;o.forEach(([l,c],f)=>{let g=i.panes.flatMap(d=>[...d.shadows.map(p=>({color:k(
d.method),x:p.x,y:p[c],faint:!0})),{color:k(d.method),x:d.x,y:d[c]}]);ss(t,f%a*(n+14),Math.floor(f/a)*h,n,h-4,l,g.filter(d=>d.y.some(Number.
isFinite)),{log:c==="lambda",most:200})})}var os=class{network;learner;learned;mean;near;axes;center;next;nextAxes;row;drawn;right;noise;world;x;test;ece;lambda;fields;turn;constructor(t,s){
this.world=t,this.method=s,this.shadows=[],this.plane=new U((e,o,r)=>this.drawInputs(e,o,r),{ratio:.8,label:""}),this.loss=new U((e,o,r)=>ee(
this,e,o,r),{ratio:.5,label:"",most:230}),this.plane.canvas.addEventListener("click",e=>t.add(e,this.plane.canvas)),this.menu=pt("method",["\
gd","sam","vi","sabma","sgld","hmc"].map(e=>[e,I(e)[0]]),s,e=>{this.method=e,this.shadows=[],t.again()}),this.reading=w("p",{class:"pg-reads"}),
this.node=w("div",{class:"pg-pane"},w("div",{class:"pg-head"},this.menu,this.reading),this.plane.node,t.planes?this.loss.node:null)}begin(){
let{world:t}=this,s=t.kind==="gap",{radius:e,rho:o,kappa:r,rate:a}=t.settings;this.plane.reshape(s?.44:.8),this.network=new Vt([s?1:2,...ts[t.
net][1],s?1:2]);let n=this.network.dim,h=new tt(1e3+t.seed),l=t.train,c=s&&!_[this.method]?.05:1;this.learned=js(this.network,l);let f={mean:new Float64Array(
n),logStd:new Float64Array(n).fill(Math.log(1.5))},g={mean:this.network.init(h),logStd:new Float64Array(n).fill(Math.log(.05))},d=this.method===
"sgld"?.2:1,p={T:r/l.y.length,rate:a*c*d,momentum:.9,draws:2,radius:this.method==="sam"?o:e,most:s?30:12};this.learner=new Tt(this.method,this.
learned,f,g,p,t.seed),this.noise=Array.from({length:30},()=>h.normals(n)),this.fields=[],this.turn=0,this.x=[],this.test=[],this.ece=[],this.
lambda=[],this.axes=null,this.near=At(this.learned,this.learner.q.mean,2),this.drawn=null,this.row=0,this.lost=!1,this.refresh(1/0),this.score()}keep(){
this.x.length<8||(this.shadows.push({field:this.world.kind==="gap"?this.mean:Float64Array.from(this.mean,t=>t-.5),x:this.x,test:this.test,ece:this.
ece,lambda:this.lambda}),this.shadows.length>8&&this.shadows.shift())}members(){return this.learner.members(this.world.draws,this.noise)}step(){
this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),{grid:e}=this.world,o=e.length/this.network.
widths[0],r=this.world.kind==="gap",a=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.length;for(let n=0;n<s.length;n++){
if(this.fields[n]&&(n-this.turn+s.length)%s.length>=t)continue;let h=this.fields[n]??=new Float32Array(o);for(let l=0;l<o;l++){let c=this.network.
forward(s[n],e,l*this.network.widths[0]);r?h[l]=c[0]:(ys(c,a,0),h[l]=a[1])}}t<s.length&&(this.turn+=t),this.mean=new Float32Array(o);for(let n of this.
fields)for(let h=0;h<o;h++)this.mean[h]+=n[h]/s.length}score(){let{test:t,kind:s}=this.world,e=this.members();if(this.x.push(this.world.steps),
s==="gap"){let o=t.y.reduce((r,a,n)=>{let h=e.reduce((l,c)=>{let f=(this.network.forward(c,t.x,n)[0]-a)/t.noise;return l+Math.exp(-.5*f*f)},
0)/e.length;return r-Math.log(Math.max(h,1e-30))+Math.log(t.noise)+.5*Math.log(2*Math.PI)},0);this.test.push(o/t.y.length),this.ece.push(NaN)}else{
let o=Vs(this.network,e,t.x);this.test.push(Xs(o,t.y)),this.ece.push(Js(o,t.y)),this.right=Ks(o,t.y)}this.lambda.push(this.lost?NaN:(this.near=
At(this.learned,this.learner.q.mean,2,12,this.near))[0].value)}differ(t){return Math.sqrt(this.fields.reduce((s,e)=>s+(e[t]-this.mean[t])**2,
0)/this.fields.length)}get spread(){return this.mean.map((t,s)=>2*Math.hypot(this.differ(s),.15))}get highest(){let{spread:t}=this;return Math.
min(6,Math.max(2,...this.mean.map((s,e)=>1.05*(Math.abs(s)+t[e]))))}get unsure(){let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.
train;return{gap:t(-.1),points:s.reduce((e,o)=>e+t(o),0)/s.length}}curve(){this.lost||(this.axes=this.near=At(this.learned,this.learner.q.mean,
2,12,this.near),this.center=this.learner.q.mean.slice(),this.next=new Float64Array(529),this.nextAxes=this.axes,this.row=0)}fill(t){for(;this.
world.planes&&t>0&&this.next&&this.row<23;t--,this.row++)for(let s=0;s<23;s++){let[e,o]=[s,this.row].map(r=>(2*r/22-1)*1.2);this.next[this.row*
23+s]=this.learned.both(W(W(this.center,this.axes[0].vector,e),this.axes[1].vector,-o/2),null)}this.next&&this.row===23&&(this.drawn={values:this.
next,axes:this.nextAxes,center:this.center},this.next=null)}draw(){this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){this.mean&&(this.world.
kind==="gap"?se(this,t,s,e):te(this,t,s,e),this.lost&&S(t,"diverged: lower rate or radius",s/2,e/2,{align:"center",weight:700}))}};function Ms(i,t,s,e){let o=new Float64Array(i==="gap"?t:2*t),r=i==="gap"?new Float64Array(t):new Int32Array(t);for(let a=0;a<t;a++){let n=a%
2,h=e.uniform(),l=n?-1:1;if(i==="gap"){o[a]=n?-1.8+.8*h:.8+h,r[a]=Math.sin(2.2*o[a])+.15*e.normal();continue}let c={moons:()=>n?[.5-1.2*Math.
cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let d=n?.6:1.5;return[d*Math.
cos(2*Math.PI*h),d*Math.sin(2*Math.PI*h)]},spiral:()=>{let d=.25+1.5*h,p=4.2*h+(n?Math.PI:0);return[d*Math.cos(p),d*Math.sin(p)]},xor:()=>{let d=e.
uniform()<.5?1:-1;return[d*(.25+1.3*h),d*l*(.25+1.3*e.uniform())]}},[f,g]=c[i]();o[2*a]=f+s*e.normal(),o[2*a+1]=g+s*e.normal(),r[a]=n}return{
x:o,y:Array.from(r),noise:i==="gap"?.15:null}}var Wt=class{sliders={};settings;label;seed;frames;planes;yours;constructor(t={}){let{kind:s="spiral",methods:e=["vi","sabma"],planes:o=!0,label:r="\
a network",settings:a={}}=t;this.kind=s,this.planes=o,this.label=r,this.net="one",this.seed=1,this.draws=10,this.steps=0,this.frames=0,this.
settings={radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15,...a},this.yours=[],this.side=0,this.panes=e.map(n=>new os(this,n)),this.traces=
new U((n,h,l)=>oe(this,n,h,l),{ratio:.16,label:"",least:o?190:110,most:330}),this.build(),this.again(),this.clock=new $t(this.panes[0].node,
n=>this.frame(n)),!Ut.matches&&t.autoplay!==!1&&this.play(!0)}build(){let t=o=>(r,a)=>{this.settings[o]=r,a&&(this.forget(),this.again(),this.
play(!0))};this.sliders={};let s=(o,r,a,n,h)=>this.sliders[o]=new ot(r,a,this.settings[o],t(o),{say:n,help:h}).node;this.playButton=D("Play",
"play or pause",()=>this.play(!this.clock.playing),{class:"pg-play"}),this.verdict=w("p",{class:"pg-verdict",role:"status"});let e=o=>r=>{o(
r),this.forget(),this.again(),this.play(!0)};this.node=w("section",{class:"pg-network","aria-label":this.label},w("div",{class:"pg-panes"},...this.
panes.map(o=>o.node)),w("div",{class:"pg-row"},this.playButton,D("Restart","the same run from its start",()=>{this.again(),this.play(!0)}),D(
"New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let o of this.panes)o.keep();this.seed+=1,this.again(),
this.play(!0)}),this.planes?pt("data",Object.entries(Ss),this.kind,e(o=>{this.kind=o})):null,this.planes?pt("a click adds",[["0","a circle"],
["1","a square"]],"0",o=>{this.side=Number(o)}):null),w("div",{class:"pg-sliders"},s("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,2.8,4],
o=>o?`${o} × the width of q`:"0: the same as VI"),s("rho","radius of SAM",[0,.05,.1,.2,.5,1],o=>`${o}, a distance`),s("kappa","temperature",
[.01,.03,.1,.3,1],o=>o===1?"1: Bayes":`${o}: colder than Bayes`,"the weight of KL(q ‖ prior)")),this.verdict,this.traces.node,w("details",
{class:"pg-more"},w("summary",{},"More: network, points, rate"),pt("network",Object.entries(ts).map(([o,[r]])=>[o,r]),this.net,e(o=>{this.net=
o})),w("div",{class:"pg-sliders"},s("rate","learning rate",[.005,.01,.02,.05,.1]),s("shots","points a class or side",[4,8,12,20,40,80]),s("n\
oise","noise of the points",[0,.1,.15,.2,.3,.5]),new ot("ensemble",[1,2,5,10,20,30],10,o=>{this.draws=o;for(let r of this.panes)r.refresh(1/0);
this.draw()},{say:o=>`${o} draw${o>1?"s":""}`}).node)))}add(t,s){if(this.kind==="gap")return;let e=s.getBoundingClientRect();this.yours.push(
[2.4*(2*(t.clientX-e.left)/e.width-1),2*(1-2*(t.clientY-e.top)/e.height),this.side]),this.forget(),this.again(),this.play(!0)}points(t,s){let{
kind:e,settings:o,yours:r}=this,a=e==="none"&&[0,1].every(c=>r.filter(f=>f[2]===c).length>1),{x:n,y:h,noise:l}=a?{x:[],y:[],noise:null}:Ms(e===
"none"?"xor":e,t,o.noise,s);return e==="gap"?{x:n,y:h,noise:l}:{x:Float64Array.from([...n,...r.flatMap(([c,f])=>[c,f])]),y:[...h,...r.map(c=>c[2])],
noise:l}}forget(){for(let t of this.panes)t.shadows=[]}again(){let{kind:t,settings:s,seed:e}=this,o=2*s.shots,r=new tt(e);this.steps=0,this.
train=this.points(o,r),this.test=t==="none"?this.train:Ms(t,200,s.noise,r),this.sliders.rho.hidden=this.panes.every(a=>a.method!=="sam"),this.
sliders.noise.hidden=t==="gap",this.high=t==="gap"?40:1.5,this.grid=t==="gap"?Float64Array.from({length:121},(a,n)=>-3+n/20):Float64Array.from(
{length:1458},(a,n)=>{let h=n>>1;return n%2?2*(1-2*Math.floor(h/27)/26):2.4*(2*(h%27)/26-1)});for(let a of this.panes)a.begin(),a.curve(),a.
fill(23);this.draw()}play(t){if(t&&this.steps>=1500&&this.again(),this.clock.play(t),this.playButton.textContent=t?"Pause":"Play",!t){for(let s of this.
panes)s.refresh(1/0),s.curve(),s.fill(23),s.score();this.draw()}}advance(){this.steps+=1;for(let t of this.panes)(t.method!=="hmc"||this.steps%
2)&&t.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,(this.due??0)+t*80);this.due>=1;this.due--)this.advance();this.frames+=
1,this.jobs?.length||(this.jobs=this.round()),this.jobs.shift()(),performance.now()-s<3&&this.jobs.shift()?.(),this.tell(),this.steps>=1500&&
this.play(!1)}round(){this.rounds=(this.rounds??0)+1;let t=this.rounds%4===0,s=this.panes.filter(o=>!o.lost),e=o=>[()=>o.refresh(2),()=>o.plane.
draw(),...this.planes?[()=>o.fill(2)]:[],...t?[()=>o.score(),()=>o.loss.draw()]:[],...this.rounds%12===2?[()=>o.curve()]:[]];return[...s.flatMap(
e),...t||!s.length?[()=>this.traces.draw()]:[]]}recolor(){this.draw()}draw(){for(let t of this.panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.
frames%30===0){if(!t)return;let s=this.panes.map(o=>this.readingOf(o));this.verdict.textContent=`Step ${this.steps}${this.verdictOf()}`,this.
panes.forEach((o,r)=>{o.reading.textContent=s[r],o.plane.say(`What the ensemble of ${I(o.method)[0]} predicts for ${Ss[this.kind]??Qs}. ${s[r]}\
.`),o.loss.say(`Training loss of ${I(o.method)[0]} on the plane of its two sharpest directions, the draws projected onto it.`)});let e=this.
panes.map((o,r)=>`${I(o.method)[0]}: ${s[r]}`);this.traces.say(`Against steps: ${e.join("; ")}.`)}readingOf(t){if(t.lost)return"diverged";let s=$(
t.test.at(-1));if(this.kind==="gap"){let[o,r]=[t.unsure.gap,t.unsure.points].map(a=>Number(a.toPrecision(2)));return`test NLL ${s}; spread ${o}\
 in the gap, ${r} at the points`}let e=Math.round(100*t.right);return`test loss ${s}, ECE ${$(t.ece.at(-1))}, ${e} % right, λ₁ ${$(t.axes[0].
value)}`}verdictOf(){let t=this.panes.filter(n=>!n.lost&&Number.isFinite(n.test.at(-1))),s=n=>I(n.method)[0];if(this.steps<200||this.kind===
"gap"||t.length<2)return this.kind==="none"?" · tested on the points themselves":"";let e=n=>t.reduce((h,l)=>n(l)<n(h)?l:h),o=e(n=>n.test.at(
-1)),r=e(n=>n.lambda.at(-1)),a=t.reduce((n,h)=>h.lambda.at(-1)>n.lambda.at(-1)?h:n);return`. ${o===r?`${s(o)} is flatter and has the lower t\
est loss.`:`${s(o)} has the lower test loss, though ${o===a?"its mean is the sharpest":`${s(r)} is flatter`}: flat is not all that counts.`}`}};var re=`.pg {
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
`;var ae=24,vo=[0,17,-17,34,-34,51,-51,68],yo=(i,t)=>i[0]<t[2]&&i[2]>t[0]&&i[1]<t[3]&&i[3]>t[1];function Ts(i,t,s,e){let o=([r,a,n,h])=>r>=2&&
a>=2&&n<=s-2&&h<=e-2;return i.find(r=>o(r)&&!t.some(a=>yo(r,a)))??i[0]}var Et=class{taken=[];constructor(t,s,e,o=4){this.pen=t,this.left=o,this.
width=s,this.height=e}avoid(t,s,e=7){this.taken.push([t-e,s-e,t+e,s+e])}put(t,s,e,o={}){let{size:r=13,weight:a=400,align:n="left"}=o;this.pen.
font=`${a} ${r}px system-ui, -apple-system, "Segoe UI", Arial, sans-serif`;let h=this.pen.measureText(t).width,f={left:[s,s-h-ae],center:[s-
h/2],right:[s-h,s+ae]}[n].map(d=>Math.max(this.left,Math.min(this.width-h-4,d))).flatMap(d=>vo.map(p=>[d,e+p-8,d+h,e+p+8])),g=Ts(f,this.taken,
this.width,this.height);this.taken.push(g),S(this.pen,t,g[0],g[1]+8,{...o,align:"left"})}};var As="http://www.w3.org/2000/svg",ko=10,So=[0,14,26,40,56,74],Mo=[-1,0,1].flatMap(i=>[-1,0,1].map(t=>[i,t])),ne=(i,t,s)=>[i-s,t-s,i+s,t+s];
function he(i,t,s){let{X:e,Y:o,unit:r}=i.view(t,s),{from:a,g:n,there:h,worst:l}=i.record,{radius:c}=i.settings,f=k("sabma"),g=k("vi"),d=k("s\
am"),p=A().truth,u=A().ink;i.svg.setAttribute("viewBox",`0 0 ${t} ${s}`),i.svg.replaceChildren();let m=(T,F,R=i.svg)=>{let q=document.createElementNS(
As,T);for(let[j,bt]of Object.entries(F))q.setAttribute(j,bt);return R.append(q),q},b=T=>m("g",{"data-s":T}),x=(T,F,R,q,j)=>m("ellipse",{cx:e(
F[0]),cy:o(F[1]),rx:R*r,ry:q*r,fill:"none",...j},T),y=[],v=[],M=(...T)=>y.push(T),C=(T,F,R,q,j,bt,Yt,Ft={})=>{let et=Math.hypot(q,j),V=Math.
min(11,.6*et),[at,St]=et?[q/et,j/et]:[0,0];for(let _t=0;_t<=12;_t++)v.push([F+q*_t/12,R+j*_t/12]);m("line",{x1:F,y1:R,x2:F+q-at*V*.7,y2:R+j-
St*V*.7,stroke:bt,"stroke-width":3.2,...Ft},T),m("path",{d:`M${F+q},${R+j} L${F+q-at*V-St*V*.55},${R+j-St*V+at*V*.55} L${F+q-at*V+St*V*.55},${R+
j-St*V-at*V*.55} Z`,fill:bt},T),Yt&&M(T,F+q+9*at+(at<0?-14:2),R+j+14*St+5,Yt,bt)},P=a.logStd.map(Math.exp),[B,Q]=[e(a.mean[0]),o(a.mean[1])],
rt=T=>i.phase>=T,N=Math.max(nt(n.mean),l?nt(l.mean):0,1e-9),L=.3*Math.min(t,s)/N;if(rt(2)){let T=b("ball");x(T,a.mean,c*P[0],c*P[1],{stroke:d,
"stroke-width":2,"stroke-dasharray":"3 6"}),M(T,B+c*P[0]*r*.72+6,Q+c*P[1]*r*.72+12,"ball",d)}let lt=b("q");x(lt,a.mean,2*P[0],2*P[1],{stroke:u,
"stroke-width":2.4,fill:u,"fill-opacity":.07});for(let T of i.noise)m("circle",{cx:e(a.mean[0]+P[0]*T[0]),cy:o(a.mean[1]+P[1]*T[1]),r:3.4,fill:u},
lt);if(m("circle",{cx:B,cy:Q,r:6,fill:u,stroke:A().paper,"stroke-width":1.5},lt),M(lt,B-2*P[0]*r*.72-20,Q-2*P[1]*r*.72-6,"q",u),rt(3)&&h){let T=b(
"worst"),F=h.logStd.map(Math.exp),[R,q]=[e(h.mean[0]),o(h.mean[1])];if(x(T,h.mean,2*F[0],2*F[1],{stroke:d,"stroke-width":2.4,fill:d,"fill-op\
acity":.08}),C(T,B,Q,R-B,q-Q,d,"Δ"),m("circle",{cx:R,cy:q,r:5,fill:d,stroke:A().paper,"stroke-width":1.5},T),M(T,R-2*F[0]*r*.72-26,q+2*F[1]*
r*.72+16,"q′",d),rt(5)){let j=b("diff");C(j,R,q,n.mean[0]*L,-n.mean[1]*L,g,"",{"stroke-dasharray":"4 5"}),C(j,R+n.mean[0]*L,q-n.mean[1]*L,
(l.mean[0]-n.mean[0])*L,-(l.mean[1]-n.mean[1])*L,p),M(j,R+(n.mean[0]+l.mean[0])/2*L-20,q-(n.mean[1]+l.mean[1])/2*L-12,"g′ − g",p)}rt(4)&&
C(b("there"),R,q,l.mean[0]*L,-l.mean[1]*L,f,"g′")}if(rt(1)&&C(b("g"),B,Q,n.mean[0]*L,-n.mean[1]*L,g,"g"),rt(6)){let T=b("move"),F=i.after.
logStd.map(Math.exp);x(T,i.after.mean,2*F[0],2*F[1],{stroke:f,"stroke-width":2.4,"stroke-dasharray":"7 4"}),C(T,B,Q,e(i.plain.mean[0])-B,o(i.
plain.mean[1])-Q,g,"",{"stroke-width":2}),C(T,B,Q,e(i.after.mean[0])-B,o(i.after.mean[1])-Q,f,"step")}let wt=v.map(([T,F])=>ne(T,F,5)),Xe=[a.
mean,...h&&rt(3)?[h.mean]:[]];for(let T of Xe)wt.push(ne(e(T[0]),o(T[1]),9));for(let[T,F,R,q,j]of y){let bt=ko*q.length,Yt=So.flatMap(et=>Mo.
map(([V,at])=>[F+et*V,R+et*at])).map(([et,V])=>[et,V-14,et+bt,V+4]),Ft=Ts(Yt,wt,t,s);wt.push(Ft),m("text",{x:Ft[0],y:Ft[3]-4,fill:j},T).textContent=
q}}var It=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step."],["g","g: which way the loss \
that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as the mean could go, were the who\
le radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two widths."],["worst","Ascend by Δ\
 to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the widths took, the mean did not get."],
["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells SA-BMA from VI. It points where t\
he slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend against g′ and the pull of the prior\
. The arrow is drawn at its true length; the thin blue one is the step of VI."]],le="F: the Fisher matrix of q itself. For a mean it is 1/wi\
dth², for the logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients.";var rs=class{record;relief;settings;world;constructor(t){this.world=t,this.phase=0,this.ground=new U((s,e,o)=>this.drawGround(s,e,o),{ratio:.86,
label:"",least:260,most:540}),this.svg=document.createElementNS(As,"svg"),this.svg.setAttribute("aria-hidden","true"),this.ground.node.append(
this.svg),this.profile=new U((s,e,o)=>this.drawProfile(s,e,o),{ratio:.5,label:"",least:180,most:260}),this.sentence=w("p",{class:"pg-formula",
role:"group","aria-label":"objective and step; point at a symbol to see its mark"}),this.text=w("p",{class:"pg-verdict",role:"status"}),this.
slider=new ot("phase",It.map((s,e)=>e),0,s=>this.go(s),{say:s=>`${s+1} of ${It.length}`}),this.budget=w("div",{class:"pg-budget",role:"img"}),
this.node=w("section",{class:"pg-step","aria-label":"one step of SA-BMA"},this.ground.node,w("div",{class:"pg-row"},D("Next","the next phase",
()=>this.next(),{class:"pg-play"}),D("Back","the phase before",()=>this.go(Math.max(0,this.phase-1))),this.slider.node),this.text,w("div",{class:"\
pg-below"},w("div",{},this.sentence,this.budget),this.profile.node)),this.write(),t.still.push(()=>this.take()),this.node.addEventListener("\
pointerover",s=>this.light(s.target.closest?.("[data-s]")?.dataset.s)),this.node.addEventListener("pointerleave",()=>this.light()),this.node.
addEventListener("focusin",s=>this.light(s.target.dataset?.s)),this.node.addEventListener("click",s=>{let e=s.target.closest?.(".pg-formula \
[data-s]")?.dataset.s;e&&(this.reveal(e),this.light(e))}),this.take()}take(t){let s=this.world.model,e=s.runs.get("sabma")?.learner??s.learner(
"sabma",s.seed),o=t??ht(e.q),r=Rt(2);this.prior=e.prior,this.settings={...e.settings,radius:s.settings.radius,T:s.settings.T,rate:s.settings.
rate},this.loss=s.loss,this.noise=s.noise.slice(0,4),this.record=Jt(this.loss,o,r,this.prior,this.noise,this.settings),this.after=o,this.plain=
ht(this.record.from),zt(this.loss,this.plain,Rt(2),this.prior,this.noise,this.settings);let{g:a,delta:n}=this.record;this.slope=n?Y(a.mean,n.
mean)+Y(a.logStd,n.logStd):0,this.promised=a.value+this.slope,this.relief=null,this.go(t?0:this.phase)}next(){this.phase<It.length-1?this.go(
this.phase+1):this.take(this.after)}go(t){this.phase=this.slider.value=t,this.text.textContent=`${t+1}. ${It[t][1]}`,this.recolor()}recolor(){
this.ground.draw(),this.profile.draw(),this.tellBudget();let t=this.record;this.profile.say(`The loss along the ascent from q${t.there?`: ${$(
t.g.value)} at q, ${$(t.worst.value)} at q′, ${$(this.promised)} by the straight line of slope g`:"; there is none at radius 0"}.`),this.ground.
say(`One step of SA-BMA on the ground. ${this.text.textContent} Loss that q expects ${$(t.g.value)}`+(t.there?`, that q′ expects ${$(t.worst.
value)}.`:"; the radius is 0, so that there is no q′."))}write(){let t=(s,e)=>w("span",{"data-s":s,tabindex:0,role:"button"},e);this.sentence.
append("min over ",t("q","q")," of max over ",t("worst","q′")," in ",t("ball","KL(q′ ‖ q) ≤ radius²/2")," of E",w("sub",{},"q′"),
"[L] + T ",t("move","KL(q ‖ prior)"),w("br"),t("worst","Δ")," = ",t("ball","radius")," · F⁻¹",t("g","g")," / √(",t("g","g"),"ᵀF⁻¹",
t("g","g"),")",w("br"),t("worst","q′")," = ",t("q","q")," + ",t("worst","Δ"),",  ",t("there","g′")," = ",t("g","g")," + ",t("diff","(g′\
 − g)"),w("br"),t("q","q")," ← ",t("q","q")," − ",t("move","rate · F⁻¹(g′ + T ∇KL)"),w("small",{},le))}reveal(t){let s=It.findIndex(
([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);for(let s of this.node.querySelectorAll("[data-s]"))
s.classList.toggle("pg-lit",s.dataset.s===t)}tellBudget(){let{share:t,there:s}=this.record,{radius:e}=this.settings,o=a=>`${Math.round(100*a)}\
 %`;if(this.budget.hidden=this.phase<3||!s,this.budget.hidden)return;let r=`${o(t)} of radius² went into the means, ${o(1-t)} into the widt\
hs: the mean of q′ lies at √${t.toFixed(2)} = ${o(Math.sqrt(t))} of the way to the edge.`;this.budget.setAttribute("aria-label",r),this.
budget.replaceChildren(w("div",{class:"pg-bar"},w("i",{style:`width:${100*t}%`},t>.25?"means":""),w("b",{style:`width:${100*(1-t)}%`},t<.75?
"widths":"")),w("p",{},`Radius ${e}. `,r))}view(t,s){let{from:e,there:o}=this.record,r=e.logStd.map(Math.exp),a=Math.max(2.1,this.settings.radius+
.3),n=[0,1].map(l=>Math.max(a*r[l],o?Math.abs(o.mean[l]-e.mean[l])+2.1*Math.exp(o.logStd[l]):0)*1.12),h=Math.min(t/2/n[0],s/2/n[1]);return{unit:h,
X:l=>t/2+(l-e.mean[0])*h,Y:l=>s/2-(l-e.mean[1])*h,center:e.mean}}drawGround(t,s,e){if(!this.record)return;let{unit:o,center:r}=this.view(s,e),
a=A(),n=121,h=Math.round(120*e/s)+1,l=[s,e,o,X()].join();if(this.relief?.key!==l){let p=new Float64Array(2),u=new Float64Array(n*h);for(let x=0;x<
h;x++)for(let y=0;y<n;y++)p[0]=r[0]+(y/(n-1)-.5)*s/o,p[1]=r[1]-(x/(h-1)-.5)*e/o,u[x*n+y]=this.loss.both(p,null);let m=Math.min(...u),b=Math.
max(1e-9,Math.max(...u)-m);this.relief={key:l,columns:n,rows:h,share:u.map(x=>(x-m)/b)}}let{share:c}=this.relief,f=w("canvas",{width:n,height:h}),
g=f.getContext("2d"),d=g.createImageData(n,h);c.forEach((p,u)=>{for(let m=0;m<3;m++)d.data[4*u+m]=a.low[m]+(a.high[m]-a.low[m])*p;d.data[4*u+
3]=255}),g.putImageData(d,0,0),t.drawImage(f,0,0,s,e),t.strokeStyle=X()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let p=1;p<
14;p++)gt(t,ft(c,h,n,p/14),h,n,s,e);he(this,s,e)}drawProfile(t,s,e){if(!this.record)return;let o=A(),{from:r,delta:a,g:n,worst:h}=this.record,
l=k("sam");if(S(t,"loss along the ascent from q (0) to q′ (1)",2,10,{color:o.soft,size:12.5,halo:!1}),!a){S(t,"radius 0: no ascent",s/2,e/
2,{align:"center",halo:!1});return}let c=Array.from({length:41},(x,y)=>y/40*1.4),f=c.map(x=>ct(this.loss,{mean:W(r.mean,a.mean,x),logStd:W(r.
logStd,a.logStd,x)},this.noise).value),g=c.map(x=>n.value+x*(this.slope??0)),d=Math.min(...f,...g),p=Math.max(...f,...g),u=x=>8+(s-70)*x/1.4,
m=x=>e-22-(e-52)*(x-d)/Math.max(p-d,1e-9),b=(x,y,v)=>{t.beginPath(),x.forEach((M,C)=>t.lineTo(u(c[C]),m(M))),t.strokeStyle=y,t.lineWidth=2.2,
t.setLineDash(v),t.stroke(),t.setLineDash([])};b(g,k("vi"),[4,5]),b(f,o.ink,[]),S(t,"slope g",u(1.4)+6,m(g.at(-1)),{color:k("vi"),size:12.5}),
S(t,"loss",u(1.4)+6,Math.abs(m(f.at(-1))-m(g.at(-1)))<14?m(g.at(-1))+(m(f.at(-1))<m(g.at(-1))?-15:15):m(f.at(-1)),{size:12.5}),K(t,"circle",
u(0),m(n.value),5,o.ink),S(t,$(n.value),u(0)+4,m(n.value)+14,{size:12.5}),!(this.phase<3)&&(K(t,"circle",u(1),m(h.value),5,l),S(t,$(h.value),
u(1)+4,m(h.value)+14,{size:12.5,color:l}))}};var E=[-3,3],Z=[-2,2],as=3,jt={hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,
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
about:"Press on the ground to push it down or up, then play."}},ce=81,de=121;function pe(i){let t=Bs(i),s=1/0;for(let e=0;e<ce;e++)for(let o=0;o<
de;o++){let r=E[0]+(E[1]-E[0])*o/(de-1),a=Z[0]+(Z[1]-Z[0])*e/(ce-1);s=Math.min(s,t.both([r,a],null))}return{dim:2,both:(e,o)=>t.both(e,o)-s}}var Ot=[.01,.02,.05,.1,.2,.3,.5,1],$s=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],To=12,Ao=6;function H(i,{method:t,q:s,members:e}){return _[t]?Zt(i,s):
e.reduce((o,r)=>o+i.both(r,null),0)/e.length}var fe=(i,t,s={})=>({method:i,q:ht(t.q),members:t.members(40,[]),lost:!t.finite,...s});function Es(i,t){
let s=!1,e=()=>{let o=performance.now()+To;for(;!s&&i.length&&performance.now()<o;)i.shift()?.();s||(i.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var ns=class{constructor(t,s,{T:e,radius:o},r){this.loss=t,this.vi=[],this.sabma=[],this.ghost=null;let a=(h,l)=>()=>{let c=s(
h===this.vi?"vi":"sabma",l);c.lost||h.push({...c,...l,train:H(t,c)})},n=[...Ot.map(h=>a(this.vi,{T:h,radius:0})),...$s.map(h=>a(this.sabma,{
T:e,radius:h}))];this.stop=Es(n,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===o),s),r()})}find(t,s){if(!t)return null;let e=n=>n.train-
t.train,o=this.vi.findIndex((n,h)=>h&&e(n)*e(this.vi[h-1])<=0);if(o<1)return null;let[r,a]=[this.vi[o-1],this.vi[o]];for(let n=0;n<Ao;n++){let h=Math.
sqrt(r.T*a.T),l=s("vi",{T:h,radius:0}),c={...l,T:h,radius:0,train:H(this.loss,l)};e(c)*e(r)<=0?a=c:r=c}return Math.abs(e(a))<Math.abs(e(r))?
a:r}draw(t,s,e,o,{T:r,radius:a}){let n=A(),h=[["vi",this.vi,m=>m.T===r,"T"],["sabma",this.sabma,m=>m.radius===a,"radius"]];S(t,"training los\
s → against test loss ↑, each after a whole run",2,10,{color:n.soft,size:12.5,halo:!1});let l=m=>[m.train,H(o,m)],c=[...this.vi,...this.
sabma].map(l);if(!c.length)return;let f=m=>{let b=c.map(M=>M[m]),x=Math.min(...b),y=Math.max(...b),v=Math.max(.08*(y-x),.02);return[x-v,y+v]},
[g,d]=[f(0),f(1)],p=m=>44+(s-70)*(m-g[0])/(g[1]-g[0]),u=m=>e-24-(e-58)*(m-d[0])/(d[1]-d[0]);t.strokeStyle=n.line,t.beginPath(),t.moveTo(44,30),
t.lineTo(44,e-20),t.lineTo(s-4,e-20),t.stroke(),g.forEach((m,b)=>S(t,$(m),p(m),e-9,{color:n.soft,size:12,align:b?"right":"left"}));for(let m of d)
S(t,$(m),40,u(m),{color:n.soft,size:12,align:"right"});for(let[m,b,x,y]of h){let v=k(m);t.strokeStyle=t.fillStyle=v,t.lineWidth=1.6,t.beginPath();
for(let C of b)t.lineTo(p(l(C)[0]),u(l(C)[1]));t.stroke();for(let C of b){let[P,B]=l(C);t.beginPath(),t.arc(p(P),u(B),2.6,0,7),t.fill()}for(let C of b.
filter(x)){let[P,B]=l(C);K(t,I(m)[3],p(P),u(B),6,v)}let M=b.at(-1);if(M){let[C,P]=l(M);S(t,`${I(m)[0]}, larger ${y}`,Math.min(p(C)+8,s-4),u(
P)+(u(P)>e/2?14:-12),{color:v,size:12,align:p(C)>s/2?"right":"left"})}}if(this.ghost){let[m,b]=l(this.ghost);t.strokeStyle=k("vi"),t.setLineDash(
[2,3]),t.lineWidth=2,t.beginPath(),t.arc(p(m),u(b),10,0,7),t.stroke(),t.setLineDash([]),S(t,`T* = ${$(this.ghost.T)}`,p(m)+14,u(b)+4,{color:k(
"vi"),size:12})}}};function ge(i,t,s,e){let o=A(),r=e.flatMap(({values:g})=>g).filter(Number.isFinite),a=Math.min(...r),n=Math.max(...r,a+.05),
h=Math.max(12,Math.round(t/22)),l=g=>4+g*(t-8)/h,c=(s-44)/e.length,f=(t-8)/h-2;S(i,`test loss of ${e[0].values.length} seeds, a block each`,
2,10,{color:o.soft,size:12.5,halo:!1}),e.forEach(({method:g,values:d,where:p},u)=>{let m=new Array(h).fill(0),b=26+(u+1)*c;d.filter(Number.isFinite).
forEach(y=>{m[Math.min(h-1,Math.floor((y-a)/(n-a)*h))]+=1});let x=Math.min(9,(c-18)/Math.max(...m,1));i.fillStyle=k(g),m.forEach((y,v)=>{for(let M=0;M<
y;M++)i.fillRect(l(v),b-(M+1)*x,f,x-1)}),S(i,`${I(g)[0]}: ${p}`,t-4,b-c+10,{color:k(g),size:12,align:"right"}),i.fillStyle=o.line,i.fillRect(
4,b,t-8,1)}),[a,n].forEach((g,d)=>S(i,$(g),d?t-4:4,s-8,{color:o.soft,size:12,align:d?"right":"left"}))}var st=600,me=6,xt=20,Os=.3,ue=["radius","rho","T","viT","rate","draws"],Is=class{constructor(t){this.learner=t,this.trail=[[...t.q.mean]],this.
x=[],this.stands=[],this.train=[],this.test=[],this.lambda=[],this.kl=[],this.lost=!1}},hs=class{name="hollow";world;terms=[];settings={};start=[];loss;test;giveUp=()=>{};seed=1;ensemble=10;steps=0;on=new Set(
["vi","sabma"]);shadows=[];ends=[];shift=[Os,0];bend=0;tally="";sweep=null;runs=new Map;constructor(t=()=>{}){this.changed=t;let s=new tt(99);
this.noise=Array.from({length:30},()=>s.normals(2)),this.choose("hollow")}choose(t){this.name=t,this.world=jt[t],this.terms=this.world.terms.
map(a=>({...a}));let{radius:s,rho:e,T:o,rate:r}=this.world;this.settings={radius:s,rho:e,T:o,viT:o,rate:r,draws:4},this.start=[...this.world.
start],this.shadows=[],this.reground(),this.rest(!1)}reground(){this.loss=pe(this.terms),this.retest()}retest(){this.test=Ws(this.loss,this.
shift,this.bend)}get far(){return Math.hypot(...this.shift)}along(t){return this.far?this.shift.map(s=>s/this.far*t):[t,0]}moveTest(t,s=this.
bend){this.shift=t.map(e=>Math.max(-1,Math.min(1,e))),this.bend=s,this.retest();for(let[e,o]of this.runs)o.test=o.stands.map(r=>H(this.test,
{method:e,...r}))}learner(t,s,e={}){let{radius:o,rho:r,T:a,viT:n,rate:h,draws:l}={...this.settings,...e},g={T:t==="vi"?e.T??n:a,rate:h,momentum:0,
draws:l,radius:t==="sam"?r:o},d=Math.log(this.world.std),p=Math.log(as),u={mean:Float64Array.of(0,0),logStd:Float64Array.of(p,p)},m={mean:Float64Array.
from(this.start),logStd:Float64Array.of(d,d)};return new Tt(t,this.loss,u,m,g,s)}rest(t=!0){if(t&&this.steps>60)for(let[s,e]of this.runs)this.
shadow(s,e);this.steps=0,this.giveUp(),this.sweep?.stop(),this.sweep=null,this.ends=[],this.tally="",this.runs=new Map;for(let s of Bt)this.
on.has(s)&&this.runs.set(s,new Is(this.learner(s,this.seed)));this.measure()}shadow(t,s){this.shadows.push([t,s.trail]),this.shadows.length>
80&&this.shadows.shift()}advance(t){for(let s=0;s<t&&this.steps<st;s++){this.steps+=1;for(let[e,o]of this.runs)o.lost||e==="hmc"&&this.steps%
me||(o.learner.step(),o.lost=!o.learner.finite,o.lost||o.trail.push([...o.learner.q.mean]));this.steps%4===0&&this.measure()}}get over(){return this.
steps>=st}measure(){for(let[t,s]of this.runs){if(s.lost)continue;let{q:e,prior:o,kept:r}=s.learner,n=dt[t]&&r.length?r.slice(-this.ensemble):
[e.mean.slice()],h={q:{mean:e.mean.slice(),logStd:e.logStd.slice()},members:n};s.x.push(this.steps),s.stands.push(h),s.train.push(H(this.loss,
{method:t,...h})),s.test.push(H(this.test,{method:t,...h})),s.lambda.push(At(this.loss,e.mean,1)[0].value),s.kl.push(_[t]?Dt(e,o).value:NaN)}}whole(t,s,e={}){
let o=this.learner(t,s,e),r=t==="hmc"?st/me:st;for(let a=0;a<r&&o.finite;a++)o.step();return fe(t,o)}many(t,s,e=[{}]){this.giveUp(),this.shadows=
[],this.ends=[],this.tally=`${xt} seeds run …`;let o=[],r=e.flatMap(a=>t.flatMap(n=>Array.from({length:xt},(h,l)=>()=>{o.push({...this.whole(
n,l+1,a),...a})})));this.giveUp=Es(r,()=>{this.ends=o,this.tally=s(o),this.changed()})}compareT(){if(this.sweep||!this.on.has("vi")||!this.on.
has("sabma"))return;let{viT:t,radius:s}=this.settings,e=(o,r)=>this.whole(o,this.seed,o==="vi"?r:{radius:r.radius});this.sweep=new ns(this.loss,
e,{T:t,radius:s},this.changed)}placeOf(t){let{places:s}=this.world;return s.find(([,[e,o],r])=>Math.hypot(t[0]-e,t[1]-o)<r)?.[0]}whereIs(t){
let s=this.placeOf(t),e=Float64Array.from(t),o=new Float64Array(2);if(s?.endsWith("ridge"))return`on the ${s}`;for(let a=0;a<80;a++)this.loss.
both(e,o.fill(0)),e[0]-=.05*o[0],e[1]-=.05*o[1];let r=this.placeOf(e);return r?`in the ${r===s?"":"basin of the "}${r}`:""}counted(t){let s=new Map;
for(let e of t){let o=e.lost?"diverged":this.placeOf(e.q.mean)??"elsewhere";s.set(o,(s.get(o)??0)+1)}return[...s].sort((e,o)=>o[1]-e[1])}lossAt(t,s){
let e=this.ends.filter(r=>r.method===s&&!r.lost);if(e.length)return e.reduce((r,a)=>r+H(t,a),0)/e.length;let o=this.runs.get(s);return!o||o.
lost?NaN:H(t,{method:s,...o.stands.at(-1)})}ranking(t){return[...this.runs.keys()].map(s=>({method:s,loss:this.lossAt(t,s)})).filter(({loss:s})=>Number.
isFinite(s)).sort((s,e)=>s.loss-e.loss)}get query(){let{name:t,on:s,seed:e,shift:o,bend:r,settings:a}=this,n=Object.fromEntries(ue.map(h=>[h,
String(a[h])]));return new URLSearchParams({ground:String(t),on:[...s].join(),...n,seed:String(e),shift:o.map(h=>Number(h.toFixed(2))).join(),
bend:String(r)})}read(t,s){let e=h=>t.has(h)?Number(t.get(h)):NaN,o=t.get("ground")??"";Object.hasOwn(jt,o)&&this.choose(o);let r=(t.get("on")??
"").split(",").filter(h=>Bt.includes(h));r.length&&(this.on=new Set(r));for(let h of ue)s[h].includes(e(h))&&(this.settings[h]=e(h));Number.
isInteger(e("seed"))&&(this.seed=e("seed"));let a=(t.get("shift")??"").split(",").map(Number),n=t.has("shift")&&a.length===2&&a.every(Number.
isFinite);this.moveTest(n?a:this.shift,s.bend.includes(e("bend"))?e("bend"):0),this.rest(!1)}};var Lt=.4,Nt=.02,vt=i=>I(i)[0],Ls=(i,t)=>t.loss-i.loss<Nt?`${vt(i.method)} and ${vt(t.method)} are even`:`${vt(i.method)} wins by ${(t.loss-
i.loss).toFixed(2)}`;function ls(i){let[t,s]=i.ranking(i.test);if(!t)return"";if(!s)return`Test loss of ${vt(t.method)}: ${t.loss.toFixed(2)}\
.`;let[e,o]=i.ranking(i.loss);return i.far+i.bend?`${i.over||i.ends.length?"On":"So far, on"} the test ground ${Ls(t,s)}; not shifted, ${Ls(
e,o)}.`:`Not shifted, ${Ls(t,s)}.`}function $o(i){let t=i.sweep?.ghost;if(!t)return"";let{viT:s,radius:e}=i.settings,o=i.sweep?.sabma.find(n=>n.
radius===e),r=H(i.test,t)-H(i.test,o),a=`${Math.abs(r).toFixed(2)} ${r>0?"higher":"lower"}`;return`At T* = ${$(t.T)} instead of ${s}, VI has\
 SA-BMA's training loss, and its test loss is ${Math.abs(r)<Nt?"the same":a}.`}function we(i){if(!i.steps)return"Not trained yet.";let t=[...i.
runs].filter(([,{lost:o}])=>!o).map(([o,{learner:r}])=>({name:vt(o),where:i.whereIs(r.q.mean),cost:Us(i.loss,r.q.mean,Lt)-i.loss.both(r.q.mean,
null)})),s=t.map(({name:o,cost:r})=>`${o} ${r.toFixed(2)}`).join(", "),e=[t.map(({name:o,where:r})=>r&&`${o} is ${r}`).filter(Boolean).join(
", ")+".",ls(i),`Moving the mean by ${Lt} the worst way raises the loss by: ${s}.`,i.over?$o(i):""];for(let[o,{lost:r}]of i.runs)r&&e.push(`${vt(
o)} diverged: lower the learning rate or the radius.`);return e.filter(o=>o&&o!==".").join(" ")}var Ns=(i,t)=>i.counted(t).map(([s,e])=>`${e}\
 ${s}`).join(", ");function be(i){let t=e=>`${vt(e)}: ${Ns(i,i.ends.filter(o=>o.method===e))}`,s=[...i.on].map(t).join("; ");return`${xt} se\
eds of ${st} steps. ${s}. ${ls(i)}`}var xe=25,ve=240,ye=17,ke=[-1.2816,-.5244,0,.5244,1.2816],Se=ke.flatMap(i=>ke.map(t=>Float64Array.of(i,t)));function Eo({loss:i},t,{q:s,prior:e,
settings:o},r){let a=E[1]-E[0];return Array.from({length:xe},(n,h)=>{let l=E[0]+a*h/(xe-1),c={mean:Float64Array.of(l,r),logStd:s.logStd};if(!_[t]){
let p=t==="sam"?o.radius:0,u={...o,rate:1,radius:p};return[l,-Qt(i,c.mean.slice(),new Float64Array(2),e,u).there[0]]}let f=ct(i,c,Se),d=t===
"sabma"&&o.radius?ct(i,xs(c,f,o.radius).there,Se):f;return[l,-d.mean[0]-o.T*Dt(c,e).mean[0]]})}function Me(i,t,s,e){let o=A(),r=i.runs.get("\
sabma")??i.runs.values().next().value;if(!r)return;let a=r.learner.q.mean[1],n=[...i.runs.keys()].filter(g=>!dt[g]),h=e-ye*n.length-8,l=1.4*
i.world.top,c=g=>(g-E[0])/(E[1]-E[0])*s,f=g=>h-(h-40)*Math.min(1,(g+.07*l)/l);t.beginPath(),t.moveTo(0,h);for(let g=0;g<=ve;g++){let d=E[0]+
(E[1]-E[0])*g/ve;t.lineTo(c(d),f(i.loss.both([d,a],null)))}t.lineTo(s,h),t.fillStyle=`rgb(${o.high.join()})`,t.globalAlpha=.75,t.fill(),t.globalAlpha=
1,t.lineWidth=1.5,t.strokeStyle=o.soft,t.stroke(),S(t,"loss along w₁, cut through the mean",2,10,{color:o.soft,halo:!1}),S(t,"arrows: wher\
e a step moves the mean",2,26,{color:o.soft});for(let[g,{learner:d}]of i.runs){let{q:p}=d,u=k(g),m=c(p.mean[0]),b=f(i.loss.both([p.mean[0],a],
null));if(_[g]){let x=Math.exp(p.logStd[0]),y=f(Zt(i.loss,p));t.strokeStyle=u,t.lineWidth=3,t.beginPath(),t.moveTo(c(p.mean[0]-2*x),y),t.lineTo(
c(p.mean[0]+2*x),y),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(m,y),t.lineTo(m,b),t.stroke()}K(t,I(g)[3],m,b,4.5,u)}n.forEach((g,d)=>{
let p=h+14+ye*d;t.fillStyle=k(g);for(let[u,m]of Eo(i,g,i.runs.get(g)?.learner,a)){let b=4*Math.tanh(Math.abs(m)*4)+1,x=Math.sign(m)*b;t.beginPath(),
t.moveTo(c(u)+x,p),t.lineTo(c(u)-x,p-b),t.lineTo(c(u)-x,p+b),t.fill()}})}function Te(i,t,s,e){let o=[["loss: training thin, test thick","tes\
t",.46],["λ₁, sharpest curvature at the mean","lambda",.27],["KL(q ‖ prior), in nats","kl",.27]],r=0;for(let[a,n,h]of o){let c=[...i.runs].
flatMap(([f,g])=>{let d={color:k(f),x:g.x,y:g[n]};return n==="test"?[{...d,y:g.train,thin:!0},d]:[d]}).filter(f=>f.y.some(Number.isFinite));
ss(t,0,r,s,h*e-6,a,c,{most:st}),r+=h*e}}function Ae(i,t,s,e){if(i.ends.length){let r=[...new Set(i.ends.map(a=>a.method))].map(a=>{let n=i.ends.
filter(l=>l.method===a),h=n.map(l=>l.lost?NaN:H(i.test,l));return{method:a,where:Ns(i,n),values:h}});ge(t,s,e,r)}else if(i.sweep){let{viT:o,
radius:r}=i.settings;i.sweep.draw(t,s,e,i.test,{T:o,radius:r})}else S(t,"after a run: temperature beside radius",2,10,{color:A().soft,halo:!1})}var Io=.3,mt=1,yt=32,qs=.5,Oo=Object.freeze({vi:"VI",sabma:"SA-BMA"}),$e=i=>I(i)[0],Ee=[["yes","Yes"],["no","No"]];function Ie(i){let[t,s]=i.
ranking(i.test),e=s.loss-t.loss<Nt;return{first:t,second:s,winner:e?"even":t.method}}function Oe(i){return{...Ot.map(e=>({T:e,loss:H(i.test,
i.whole("vi",i.seed,{T:e}))})).reduce((e,o)=>o.loss<e.loss?o:e),rival:H(i.test,i.whole("sabma",i.seed))}}var cs=(i,t,s,e="")=>t.filter(o=>o.
draws===s&&i.placeOf(o.q.mean)===e).length;function Le(i,t){let s=[mt,yt].map(o=>cs(i,t,o,"narrow hollow")),e=[mt,yt].map(o=>cs(i,t,o,"wide \
meadow"));return`Radius ${qs}: with ${mt} draw a step (filled) ${e[0]} of ${xt} runs end in the meadow and ${s[0]} in the hollow; with ${yt}\
 (rings) ${e[1]} and ${s[1]}. `}var qt=[{key:"shift",title:"Shift",view:"grounds",ask:"Variational inference (VI) lowers the average loss of\
 a cloud of weights, SA-BMA that of the worst cloud within the radius. Both train on one ground, are tested on another, moved by 0.3. Which \
has the lower test loss?",guesses:[...Object.entries(Oo),["even","Equal"]],set:{},then:{},truth:i=>Ie(i).winner,answer(i){let{first:t,second:s,
winner:e}=Ie(i),o=[...i.runs].map(([n,{learner:h}])=>`${$e(n)} is ${i.whereIs(h.q.mean)}`),r=`${t.loss.toFixed(2)} to ${s.loss.toFixed(2)}`;
return`${e==="even"?"They are even":`${$e(t.method)} wins`}: ${r}. ${o.join(", ")}. Try a shift of 0.`}},{key:"temperature",title:"Temperatu\
re",view:"grounds",ask:"A wide prior keeps a cloud from shrinking, and the temperature T weighs it: the larger T, the wider VI's cloud. Up t\
o now both had T = 0.1. Is there a T at which VI has SA-BMA's test loss?",guesses:Ee,set:{},then:{viT:Io},truth:i=>{let{loss:t,rival:s}=Oe(i);
return t-s<Nt?"yes":"no"},answer(i){let{T:t,loss:s,rival:e}=Oe(i),o=i.runs.get("vi"),r=o?i.whereIs(o.learner.q.mean):"",a=s-e<Nt?"as low as":
"above";return`At T = ${i.settings.viT} VI is ${r} too. Its lowest test loss over the slider, ${s.toFixed(2)} at T = ${t}, is ${a} SA-BMA's ${e.
toFixed(2)}. But this ground was made so that the difference is plain.`}},{key:"network",title:"A trained network",view:"frontier",ask:"A ne\
twork trained on rotated digits adapts to two upright ones a class; means over 40 seeds. At the same temperature SA-BMA (radius 1) is flatte\
r than VI. Is there a T at which VI has both its training loss and its curvature λ₁?",guesses:Ee,set:{},then:{},truth:()=>"yes",answer:()=>"\
Nearly: the line of VI along its temperature (blue) almost covers that of SA-BMA along its radius (green). At equal training loss λ₁ is 0.96\
 of VI's and the NLL 0.007 lower. Most of what the radius does here, a lower temperature does."},{key:"draws",title:"Draws",view:"grounds",ask:`\
A step averages gradients over S draws from the cloud. The ascent to the worst cloud follows their noise as well. At radius ${qs}: with whic\
h S does SA-BMA stay out of the hollow more often?`,guesses:[["one",`S = ${mt}`],["many",`S = ${yt}`],["even","As often"]],on:["sabma"],set:{
radius:qs,draws:mt},then:{},seeds:[{draws:mt},{draws:yt}],tell:Le,counts:i=>[mt,yt].map(t=>({name:`S = ${t}`,value:i.ends.length?`${cs(i,i.ends,
t,"wide meadow")} of ${xt}`:"–"})),truth:i=>{let[t,s]=[mt,yt].map(e=>cs(i,i.ends,e,"narrow hollow"));return t<s?"one":t>s?"many":"even"},answer:i=>Le(
i,i.ends)+"Few draws widen the cloud as a higher temperature does; with many, SA-BMA falls into the hollow as VI does. On the trained networ\
k few draws do the reverse: with 1, 8, 128 a step the radius is worth VI's T = 0.0137, 0.0211, 0.0237, from 0.03."}],Ne=(i,t)=>i.view==="fro\
ntier"||("seeds"in i?t.ends.length>0:t.steps>=st);var ut={seeds:40,T:.03,vi:[[.006,.013308,1.0158,.58418,.042675,.076063,.01291,.0077517],[.01,.022048,1.3511,.56598,.035909,.061803,.0087214,
.0065766],[.015,.032973,1.6514,.5554,.03367,.047402,.0054091,.0045322],[.02,.043971,1.8783,.55011,.036256,.030927,.0030981,.0029507],[.03,.065808,
2.1927,.54699,.04311,0,0,0],[.05,.10942,2.5763,.55254,.062964,.062848,.0039081,.0036917],[.075,.16348,2.8693,.56774,.088486,.11056,.006941,.0051976],
[.1,.21667,3.0677,.58631,.11308,.14151,.00908,.0064426]],sabma:[[0,.065808,2.1927,.54699,.04311,0,0,0],[.5,.055361,2.0196,.54416,.03901,.020374,
89114e-8,.0019212],[1,.046795,1.8443,.54244,.036838,.037138,.001756,.0029713],[2,.034217,1.5546,.54231,.033359,.061681,.0035037,.0046419]]};var Lo=[{title:"curvature λ₁",at:2,ticks:[1,1.5,2,2.5,3]},{title:"NLL on test digits",at:3,ticks:[.54,.55,.56,.57,.58]},{title:"ECE on te\
st digits",at:4,ticks:[.04,.06,.08,.1]}],No=[.02,.05,.1,.2],qo=2*Math.PI,Po=3,qe=4,Fe={T:ut.vi.map(([i])=>i),radius:ut.sabma.map(([i])=>i)},
Pt=(i,t)=>ut[i].find(([s])=>s===t)??ut[i][0],Pe=(i,t=!1)=>{let s=a=>t?Math.log(a):a,e=Math.min(...i.map(s)),o=Math.max(...i.map(s)),r=.09*(o-
e);return a=>(s(a)-e+r)/(o-e+2*r)},ds=class{T=ut.T;radius=1;open=!1;constructor(){this.board=new U((t,s,e)=>this.draw(t,s,e),{ratio:.36,label:"",
least:276}),this.message=w("p",{class:"pg-message"}),this.node=w("div",{class:"pg-frontier"},this.message,this.board.node)}show(t){Object.assign(
this,t);let{T:s,seeds:e}=ut,o=this.open?"A lower temperature does most of what the radius does.":"",r=`95 % bars: difference from VI, T = ${s}`;
this.message.replaceChildren(w("b",{},o),` ${e} seeds; ${r}.`),this.board.draw(),this.board.say(this.sentence())}sentence(){let t=([,,s,e])=>`\
λ₁ ${s.toFixed(2)}, NLL ${e.toFixed(3)}`;return`SA-BMA at radius ${this.radius}: ${t(Pt("sabma",this.radius))}. VI at T = ${this.T}: ${t(
Pt("vi",this.T))}.`}draw(t,s,e){let o=Lo.slice(0,s<520?1:s<800?2:3),r=s/o.length;o.forEach((a,n)=>this.drawPanel(t,a,n*r,r,e))}drawPanel(t,s,e,o,r){
let a=A(),{vi:n,sabma:h}=ut,l=[...n,...h],c=Pe(l.map(N=>N[1]),!0),f=N=>[-1,0,1].map(L=>N[s.at]+L*N[s.at+Po]),g=Pe(l.flatMap(f)),[d,p,u,m]=[e+
40,e+o-14,38,r-42],b=N=>d+(p-d)*c(N[1]),x=N=>m-(m-u)*g(N),y=N=>x(N[s.at]),v=N=>{let[L,lt,wt]=f(N).map(x);return{x:b(N),y:lt,low:L,high:wt}},
M=new Et(t,e+o,m,d);for(let N of s.ticks){let L=x(N);L<u||L>m||(t.lineWidth=1,t.strokeStyle=a.line,t.beginPath(),t.moveTo(d,L),t.lineTo(p,L),
t.stroke(),S(t,String(N),d-6,L,{color:a.soft,size:12,align:"right"}))}for(let N of No){let L=d+(p-d)*c(N);L<d||S(t,String(N),L,m+14,{color:a.
soft,size:12,align:"center"})}S(t,s.title,d,14,{weight:600,size:14,halo:!1}),S(t,"training loss (nats)",(d+p)/2,m+31,{color:a.soft,size:12.5,
align:"center"}),this.open&&this.line(t,n,v,"vi",M),this.line(t,h,v,"sabma",M);let[P,B]=[Pt("vi",this.T),Pt("sabma",this.radius)];K(t,"squar\
e",b(P),y(P),7,k("vi")),K(t,"circle",b(B),y(B),7,k("sabma"));let Q={weight:700,size:14};M.put(`SA-BMA, radius ${this.radius}`,b(B)+12,y(B)+20,
{...Q,color:k("sabma")});let rt={...Q,color:k("vi"),align:"right"};if(M.put(`VI, T = ${this.T}`,b(P)-10,y(P)-20,rt),!!this.open)for(let N of[
n[0],n[n.length-1]]){let{x:L,high:lt}=v(N),wt={color:k("vi"),align:"center"};N[0]!==this.T&&M.put(`T = ${N[0]}`,L,lt-14,wt)}}line(t,s,e,o,r){
let a=s.map(e);t.strokeStyle=t.fillStyle=k(o),t.lineWidth=o==="vi"?2:3.2,t.setLineDash(o==="vi"?[7,5]:[]),t.beginPath();for(let{x:n,y:h}of a)
t.lineTo(n,h);t.stroke(),t.setLineDash([]),t.lineWidth=1.5,a.forEach(({x:n,y:h,low:l,high:c},f)=>{t.beginPath(),t.arc(n,h,3,0,qo),t.fill(),t.
beginPath(),t.moveTo(n,l),t.lineTo(n,c);for(let d of[l,c])t.moveTo(n-qe,d),t.lineTo(n+qe,d),r.avoid(n,d,5);t.stroke();let g=a[Math.max(0,f-1)];
for(let d of[.25,.5,.75,1])r.avoid(g.x+d*(n-g.x),g.y+d*(h-g.y),4)})}get numbers(){return[{method:"vi",row:Pt("vi",this.T)},{method:"sabma",row:Pt(
"sabma",this.radius)}].map(({method:t,row:s})=>({method:t,nll:$(s[3]),lambda:$(s[2])}))}};var J=181,it=121,Ce=14;function Gt(i,t){let s=i.getBoundingClientRect();return[E[0]+(t.clientX-s.left)/s.width*(E[1]-E[0]),Z[1]-(t.clientY-s.
top)/s.height*(Z[1]-Z[0])]}var ps=class{loss=null;top=1;relief=null;density=null;constructor(t){let s=(e,o,r)=>{let{loss:a}=this;if(!a)return;
let n=o/(E[1]-E[0]),h=this.relief,l=h?.width===o&&h.height===r&&h.dark===X();this.relief=l?h:this.reliefFor(a,o,r),e.drawImage(this.relief.whole,
0,0,o,r),t(e,g=>(g-E[0])*n,g=>(Z[1]-g)*n,n,r)};this.board=new U(s,{ratio:2/3,label:""})}lay(t,s){this.loss=t,this.top=s,this.relief=null,this.
density=null}reliefFor(t,s,e){let o=X(),[r,a,n]=o?[.45,.6,4]:[.22,.14,1.7],h=Re(t),l=Math.min(...h),c=h.map(x=>{let y=(x-l)/this.top;return y<
1?.75*y:1-.25/y}),f=(x,y)=>c[x*J+y],g=Zs(c,it,J,(x,y)=>{let v=f(x,Math.min(J-1,y+1))-f(x,Math.max(0,y-1)),M=f(Math.min(it-1,x+1),y)-f(Math.max(
0,x-1),y);return Math.max(-r,Math.min(a,n*(-v-M)))}),{dense:d}=this.board,[p,u]=[s*d,e*d],m=w("canvas",{width:p,height:u}),b=Ct(m);b.imageSmoothingQuality=
"high",b.drawImage(g,0,0,p,u),b.scale(p/(J-1),u/(it-1)),b.strokeStyle=o?"rgba(190,225,235,.28)":"rgba(60,70,80,.2)";for(let x=1;x<=Ce;x++){b.
lineWidth=(J-1)/s*(x%4?.8:1.4);let y=ft(c,it,J,x/(Ce+1));gt(b,y,it,J,J-1,it-1)}return{whole:m,width:s,height:e,dark:o}}drawMass(t,s,e,o,r){this.
loss&&(this.density??=Fo(this.loss,o,r),t.strokeStyle=A().truth,this.density.forEach((a,n)=>{t.lineWidth=n?1.4:2.4,gt(t,a,it,J,s,e)}))}},De=i=>[
E[0]+i%J/(J-1)*(E[1]-E[0]),Z[1]-Math.floor(i/J)/(it-1)*(Z[1]-Z[0])],Re=i=>Float64Array.from({length:it*J},(t,s)=>i.both(De(s),null));function Fo(i,t,s){
let e=Re(i),o=Math.min(...e),r=e.map((h,l)=>{let[c,f]=De(l);return Math.exp(-(h-o)/t-.5*(c*c+f*f)/s**2)}),a=Array.from(r).sort((h,l)=>l-h),n=a.
reduce((h,l)=>h+l,0);return[.5,.95].map(h=>{let l=0,c=a.find(f=>(l+=f)>=h*n)??0;return ft(r,it,J,c)})}var Co=44,ze=.1,Do={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]},kt={width:.32,reach:.16,first:.1,more:.06,most:1.5},
Be=(i,[t,s])=>Math.max(t+ze,Math.min(s-ze,i)),We=i=>t=>{let s=Do[t.key];s&&(t.preventDefault(),i(s))};function je(i){let{canvas:t}=i.training.
board,{model:s}=i,e=!1,o=n=>{let[h,l]=Gt(t,n),c=i.training.board.width/(E[1]-E[0]),f=[...s.runs.values()].map(g=>g.learner.q.mean);return[s.
start,...f].some(([g,d])=>Math.hypot(h-g,l-d)*c<Co)},r=n=>{let h=Gt(t,n);i.tool==="start"?s.start=[Be(h[0],E),Be(h[1],Z)]:(Ro(s,h,i.tool==="\
down"?1:-1),i.training.lay(s.loss,s.world.top),i.testing.lay(s.test,s.world.top)),s.rest(!1),i.shown()},a=n=>i.tool==="start"&&!o(n);t.addEventListener(
"touchstart",n=>{a(n.touches[0])||n.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",n=>{n.pointerType==="touch"&&a(n)||(e=!0,
t.setPointerCapture(n.pointerId),i.play(!1),r(n))}),t.addEventListener("pointermove",n=>{e&&r(n)});for(let n of["pointerup","pointercancel"])
t.addEventListener(n,()=>{e&&(e=!1,i.again(!1))})}function Ge(i){let{canvas:t}=i.testing.board,s=null;t.addEventListener("pointerdown",e=>{s=
Gt(t,e).map((o,r)=>o-i.model.shift[r]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermove",e=>{let o=s;o&&i.moveTest(Gt(t,e).
map((r,a)=>r-o[a]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}function Ro(i,[t,s],e){let o=i.terms.find(
r=>r.width===kt.width&&Math.hypot(r.at[0]-t,r.at[1]-s)<kt.reach);o?o.depth=Math.max(-kt.most,Math.min(kt.most,o.depth+kt.more*e)):i.terms.push(
{kind:"dent",at:[t,s],depth:kt.first*e,width:kt.width}),i.reground()}var Ht=2*Math.PI,fs=class{constructor(t,s,e,o,r){this.pen=t,this.X=s,this.Y=e,this.unit=o,this.width=o*(E[1]-E[0]),this.height=r,this.labels=
new Et(t,this.width,r)}title(t){this.labels.put(t,10,16,{weight:700,size:14})}outline({mean:t,logStd:s},e=[0]){let{pen:o,unit:r}=this,[a,n]=[
0,1].map(h=>2*Math.exp(s[h])*r);o.setLineDash(e.length>1?e:[]),o.beginPath(),o.ellipse(this.X(t[0]),this.Y(t[1]),a,n,0,0,Ht),o.stroke(),o.setLineDash(
[])}cloud(t){let{pen:s}=this;s.lineWidth=2,this.outline(t),s.globalAlpha=.16,s.fill(),s.globalAlpha=1}dot(t,s,e=2.4){this.pen.beginPath(),this.
pen.arc(this.X(t),this.Y(s),e,0,Ht),this.pen.fill()}line(t,s){let{pen:e,X:o,Y:r}=this;e.beginPath(),e.moveTo(o(t[0]),r(t[1])),e.lineTo(o(s[0]),
r(s[1])),e.stroke()}trail(t,s,e){let{pen:o,X:r,Y:a}=this;o.globalAlpha=e,o.strokeStyle=o.fillStyle=s,o.lineWidth=1.6,o.beginPath();for(let[l,
c]of t)o.lineTo(r(l),a(c));o.stroke();let[n,h]=t[t.length-1];o.globalAlpha=Math.min(1,2*e),this.dot(n,h,3),o.globalAlpha=1}ends(t){let{pen:s,
X:e,Y:o}=this;s.globalAlpha=.6;for(let{method:r,q:a,lost:n,draws:h}of t.ends){if(n)continue;let[l,c]=[e(a.mean[0]),o(a.mean[1])];h&&h>1?this.
ring(l,c,k(r)):K(s,I(r)[3],l,c,4.5,k(r))}return s.globalAlpha=1,t.ends.length>0}ring(t,s,e){let{pen:o}=this;o.strokeStyle=e,o.lineWidth=2,o.
beginPath(),o.arc(t,s,5,0,Ht),o.stroke()}places(t,s=[0,0]){for(let[e,o,r]of t.world.places){let a=Math.min(this.height-14,this.Y(o[1]+s[1]-r)+
6);this.labels.put(e,this.X(o[0]+s[0]),a,{color:A().soft,align:"center"})}}means(t,s){let e=[...t.runs].filter(([,r])=>!r.lost),o=([,r])=>[this.
X(r.learner.q.mean[0]),this.Y(r.learner.q.mean[1])];for(let r of e){let[a,n]=o(r);this.labels.avoid(a,n)}if(!(e.length>3))for(let[r,a]of e){
let[n,h]=o([r,a]),l={color:k(r),weight:700,size:14};this.labels.put(s(r,a),n+12,h-17,l)}}run(t,s,{learner:e,trail:o}){let{pen:r}=this,a=k(s),
{q:n,last:h}=e;if(dt[s]?(this.trail(o.slice(-160),a,s==="hmc"?.08:.3),h?.path&&this.trail(h.path,a,.4)):this.trail(o,a,.75),r.fillStyle=r.strokeStyle=
a,_[s]&&this.cloud(n),h?.there&&s==="sabma"&&this.worst(n,h.there,a),s==="sam"&&h?.e&&!t.over&&this.ascent(h,t.settings.rho),_[s]||dt[s]){r.
fillStyle=a,r.globalAlpha=.8;for(let l of e.members(t.ensemble,t.noise))this.dot(l[0],l[1]);r.globalAlpha=1}K(r,I(s)[3],this.X(n.mean[0]),this.
Y(n.mean[1]),5.5,a)}worst(t,s,e){let{pen:o,X:r,Y:a,unit:n}=this;o.lineWidth=1.4,this.outline(s,[4,4]),this.line(t.mean,s.mean);let h=a(s.mean[1])-
2*Math.exp(s.logStd[1])*n-11,l=n<80?"worst q′":"q′, worst in the radius";this.labels.put(l,r(s.mean[0]),h,{color:e,size:12.5,align:"cent\
er"})}ascent({from:t,e:s},e){let{pen:o,X:r,Y:a,unit:n}=this;o.lineWidth=1.5,o.setLineDash([4,4]),o.beginPath(),o.arc(r(t[0]),a(t[1]),e*n,0,Ht),
o.stroke(),o.setLineDash([]),this.line(t,[t[0]+s[0],t[1]+s[1]])}};function He(i,t,s){let{pen:e,labels:o,width:r,height:a,unit:n}=i,h=A();s&&
s.drawMass(e,r,a,t.settings.T,as);for(let[l,c]of t.shadows)i.trail(c,k(l),.22);if(i.title("training ground"),!i.ends(t)){for(let[l,c]of t.runs)
i.run(t,l,c);i.means(t,l=>I(l)[0])}s&&o.put("true posterior: 50 % and 95 % of its mass",r-8,a-14,{color:h.truth,weight:600,align:"right"}),i.
places(t),e.strokeStyle=h.soft,e.lineWidth=2,e.beginPath(),e.moveTo(12,a-14),e.lineTo(12+Lt*n,a-14),e.stroke(),o.put(`${Lt}`,18+Lt*n,a-14,{color:h.
soft,size:12.5})}function Ye(i,t){let{pen:s,X:e,Y:o,labels:r,height:a}=i,n=A();if(i.title("test ground"),t.far>.05){let[h,l]=t.shift,[c,f]=t.
world.places[0]?.[1]??[0,0];s.strokeStyle=s.fillStyle=n.soft,s.lineWidth=2,s.beginPath(),s.moveTo(e(c),o(f)+26),s.lineTo(e(c+h),o(f+l)+26),s.
stroke(),s.beginPath(),s.arc(e(c+h),o(f+l)+26,3.5,0,Ht),s.fill();let g=t.bend?`, bent by ${t.bend}`:"",d=`moved by ${$(t.far)}${g}`;r.put(d,
10,a-14,{color:n.soft,size:12.5})}if(i.ends(t)){i.places(t,t.shift);return}for(let[h,l]of t.runs){if(l.lost)continue;let{q:c,members:f}=l.stands[l.
stands.length-1],g=k(h);if(s.fillStyle=s.strokeStyle=g,_[h])i.cloud(c);else for(let d of f)i.dot(d[0],d[1]);K(s,I(h)[3],e(c.mean[0]),o(c.mean[1]),
5.5,g)}i.means(t,(h,l)=>l.test[l.test.length-1].toFixed(2)),i.places(t,t.shift)}var gs={shift:[0,.1,.2,.3,.4,.6,.8,1],bend:[0,.1,.2,.4],radius:$s,viT:Ot,T:Ot,rho:[0,.05,.1,.2,.3,.5,.8,1.2],rate:[.01,.02,.05,.1,.2],draws:[
1,2,4,8,16,32],ensemble:[1,2,5,10,20,30]},zo={gd:"",sam:"SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",vi:"\
VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: sharpness-aware Bayesian model averaging, lowers the l\
oss of the worst q′ within the radius of q",sgld:"SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",hmc:"\
HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior"},Bo=i=>`${i} draw${i>1?"s":""}`,ms=class{sliders={};constructor(t,s){
this.world=t;let{model:e}=t;this.playButton=D("Play","play or pause",()=>t.play(!t.clock.playing),{class:"pg-play"}),this.chips=w("div",{class:"\
pg-chips",role:"group","aria-label":"methods"});for(let n of Bt){let h=D("",`show or hide ${I(n)[0]}`,()=>t.toggle(n),{"data-method":n});h.append(
w("i",{"aria-hidden":"true"}),I(n)[0]),this.chips.append(h)}let o=Object.entries(jt).map(([n,h])=>[n,h.label]);this.ground=pt("ground",o,"ho\
llow",n=>t.choose(n)),this.tools=this.toggles("what the pointer does","tool",[["down","push down"],["up","push up"],["start","move q"]]),this.
sides=this.toggles("which ground is shown","side",[["training","training ground"],["test","test ground"]]),this.score=w("div",{class:"pg-sco\
re",role:"group","aria-label":"losses"}),this.verdict=w("p",{class:"pg-verdict",role:"status"}),this.about=w("p",{class:"pg-about"}),this.names=
w("p",{class:"pg-about"}),this.truthButton=D("True posterior","the posterior, computed on a grid",()=>{t.truth=!t.truth,t.shown(!0)});let r=(n,h,l)=>w(
"div",{class:"pg-grip",tabindex:0,role:"group","aria-label":h,onkeydown:We(l)},n.node);this.maps=w("div",{class:"pg-maps","data-side":"train\
ing"},r(t.training.board,"the training ground; arrow keys move the place where training starts",([n,h])=>t.moveStart(n,h)),r(t.testing.board,
"the test ground; arrow keys shift it",n=>t.moveTest(e.shift.map((h,l)=>h+n[l])))),this.first=w("div",{class:"pg-first"},this.keep("shift","\
shift of the test ground",n=>t.moveTest(e.along(n)),$),this.slider("radius","radius of SA-BMA",n=>Number(n)?`${n} × the width of q`:"0: as \
VI","how far from q SA-BMA looks for the worst posterior, √(2 KL)"),this.slider("viT","temperature of VI",n=>`T = ${n}`,"the weight of KL(\
q ‖ prior)")),this.others=w("div",{class:"pg-sliders"},this.slider("T","temperature of the others",n=>`T = ${n}`),this.slider("rho","radiu\
s of SAM",n=>`${n}, a distance`),this.slider("rate","learning rate"),this.keep("ensemble","ensemble",n=>t.average(n),n=>Bo(Number(n))),this.
keep("bend","bend of the test ground",n=>t.moveTest(e.shift,n)),this.slider("draws","draws a step",n=>`S = ${n}`,"of which a step averages g\
radients")),this.found=this.foundSliders();let a=[D("Link","copy a link to what is shown",n=>t.share(n.target)),D("PNG","save both grounds a\
s a picture",()=>t.picture())];this.more=w("details",{class:"pg-more"},w("summary",{},"More: methods, settings, seeds"),this.verdict,w("div",
{class:"pg-row"},D("Step","one step of every method",()=>{t.play(!1),t.advance(1)}),D("20 seeds","20 runs of each method",()=>t.many()),this.
truthButton,...s?a:[]),this.chips,this.names,this.others,w("div",{class:"pg-boards"},t.section.node,t.traces.node,t.chart.node),w("div",{class:"\
pg-under"},this.ground,this.tools,this.about)),this.node=w("section",{class:"pg-world","aria-label":"two weights"},t.sequence.node,this.sides,
this.maps,t.frontier.node,this.score,this.first,this.found,w("div",{class:"pg-row pg-run"},this.playButton,D("Restart","the same run from it\
s start",()=>t.train()),D("New seed","other noise; the last runs stay as shadows",()=>{e.seed+=1,t.train()})),this.more)}slider(t,s,e=String,o=""){
let{world:r}=this,a=(n,h)=>{r.model.settings[t]=n,this.side("training"),h?r.train():(r.model.rest(),r.draw())};return this.keep(t,s,a,e,o)}keep(t,s,e,o=String,r=""){
let a=new ot(s,gs[t],gs[t][0],e,{say:o,help:r});return this.sliders[t]=a,a.node}toggles(t,s,e){let{world:o}=this,r=a=>{s==="side"?this.side(
a):o.tool=a,this.tell()};return w("div",{class:`pg-tools pg-${s}s`,role:"group","aria-label":t},...e.map(([a,n])=>D(n,n,()=>r(a),{[`data-${s}`]:a})))}foundSliders(){
let{world:t}=this,s=(e,o,r)=>new ot(o,Fe[e],t.frontier[e],a=>{t.frontier.show({[e]:a}),t.tellScore()},{say:r}).node;return w("div",{class:"p\
g-first pg-found"},s("radius","radius on the trained network",e=>Number(e)?e:"0: as VI"),s("T","temperature on the trained network",e=>`T = ${e}`))}side(t){
this.maps.dataset.side=t;for(let s of this.sides.children)s.setAttribute("aria-pressed",String(s.dataset.side===t))}show(t){let s=t.view==="\
frontier";for(let e of[this.maps,this.sides,this.first])e.hidden=s;for(let e of[this.world.frontier.node,this.found])e.hidden=!s;(t.key==="d\
raws"?this.first:this.others).append(this.sliders.draws.node),this.side("training")}tell(){let{model:t,tool:s,truth:e}=this.world;for(let n of this.
chips.children){let{method:h}=n.dataset;n.setAttribute("aria-pressed",String(t.on.has(h))),n.style.setProperty("--method",k(h))}for(let n of this.
tools.children)n.setAttribute("aria-pressed",String(n.dataset.tool===s));this.tools.hidden=t.name!=="yours",this.truthButton.setAttribute("a\
ria-pressed",String(e)),this.ground.querySelector("select").value=t.name;let{sliders:o}=this;for(let[n,h]of Object.entries(t.settings))o[n].
value=h;o.bend.value=t.bend,o.ensemble.value=t.ensemble,o.shift.value=t.far,o.shift.text.textContent=$(t.far),o.rho.node.hidden=!t.on.has("s\
am"),o.radius.node.hidden=!t.on.has("sabma"),o.viT.node.hidden=!t.on.has("vi"),this.about.textContent=t.world.about;let r=[...t.on].some(n=>_[n])?
"q: a method's cloud of weights":"",a=[...[...t.on].map(n=>zo[n]),r].filter(Boolean);this.names.textContent=`${a.join(". ")}.`}};function Ps(i,t,s,e,o=!1){return w("div",{style:`--method:${k(i)}`,class:o?"pg-wins":""},w("span",{},t),w("b",{},s),w("small",{},e[0],w("br"),
e[1]))}var _e=i=>Number.isFinite(i)?i.toFixed(2):"–";function Ue({model:i,frontier:t,sequence:{card:s}}){if(s.view==="frontier")return t.numbers.
map(({method:r,nll:a,lambda:n})=>Ps(r,I(r)[0],n,["curvature λ₁",`test NLL ${a}`]));if(s.counts&&(i.ends.length||!i.steps))return s.counts(
i).map(({name:r,value:a})=>Ps("sabma",r,a,["runs end","in the meadow"]));let o=i.steps||i.ends.length?i.ranking(i.test)[0]?.method:"";return[
...i.runs.keys()].map(r=>{let a=_e(i.lossAt(i.test,r)),n=`training ${_e(i.lossAt(i.loss,r))}`;return Ps(r,I(r)[0],a,["test loss",n],o===r)})}var us=class{at=0;guess="";told=!1;constructor(t){this.world=t,this.steps=w("div",{class:"pg-steps",role:"group","aria-label":"questions"},...qt.
map((r,a)=>D(`${a+1} ${r.title}`,r.title,()=>this.go(a)))),this.ask=w("p",{class:"pg-ask"}),this.guesses=w("div",{class:"pg-guess",role:"gro\
up","aria-label":"your guess"}),this.answer=w("p",{class:"pg-answer",role:"status"}),this.next=D("Next →","the next question",()=>this.go(
this.at+1),{class:"pg-next"});let s=w("div",{},this.steps,this.ask),e=w("div",{class:"pg-choose"},this.guesses,this.next),o=w("div",{class:"\
pg-reply"},e,this.answer);this.node=w("div",{class:"pg-card"},s,o)}get card(){return qt[this.at]}go(t){this.at=t,this.guess="",this.told=!1,
this.world.begin(this.card),this.show()}show(){let{card:t}=this;[...this.steps.children].forEach((s,e)=>{e===this.at?s.setAttribute("aria-cu\
rrent","step"):s.removeAttribute("aria-current")}),this.ask.textContent=t.ask,this.guesses.replaceChildren(...t.guesses.map(([s,e])=>D(e,`gu\
ess: ${e}`,()=>this.take(s),{"data-guess":s}))),this.answer.textContent="Your guess?",this.next.hidden=!0}take(t){this.guess=t,this.told=!1;
for(let s of this.guesses.children)s.setAttribute("aria-pressed",String(s.dataset.guess===t));this.answer.textContent="They train …",this.
world.run(this.card),this.tell()}tell(){let{card:t,world:s}=this;if(!this.guess||this.told||!Ne(t,s.model))return;this.told=!0;let e=t.truth(
s.model)===this.guess;this.answer.replaceChildren(w("b",{},e?"You guessed right. ":"Not quite. "),t.answer(s.model));for(let o of this.guesses.
children)o.classList.toggle("pg-right",o.dataset.guess===t.truth(s.model));this.next.hidden=this.at===qt.length-1,t.view==="grounds"&&s.side(
"test")}};var Wo=150,jo=6,Go=2e3,ws=class{tool="start";truth=!1;due=0;frames=0;still=[];constructor(t={}){this.model=new hs(()=>this.shown(!0));let s=o=>new ps(
(r,a,n,h,l)=>o(new fs(r,a,n,h,l)));this.training=s(o=>He(o,this.model,this.truth?this.training:null)),this.testing=s(o=>Ye(o,this.model));let e=(o,r=.8)=>new U(
(a,n,h)=>o(this.model,a,n,h),{ratio:r,label:"",least:230,most:300});this.section=e(Me,.56),this.traces=e(Te),this.chart=e(Ae),this.frontier=
new ds,this.sequence=new us(this),this.panel=new ms(this,t.link!==!1),this.node=this.panel.node,je(this),Ge(this),this.lay(),t.link!==!1&&this.
read(new URLSearchParams(location.search)),this.clock=new $t(this.training.board.node,o=>this.frame(o)),this.sequence.show(),this.begin(qt[0],
!1)}side(t){this.panel.side(t)}begin(t,s=!0){let e=t.view==="frontier";this.play(!1),this.panel.show(t),s&&!e&&(this.model.seed=1,this.model.
on=new Set(t.on??["vi","sabma"]),this.model.choose("hollow"),Object.assign(this.model.settings,t.set),this.model.moveTest([Os,0],0),this.lay()),
e&&this.frontier.show({open:!1,radius:1}),this.again(!1)}run(t){t.view==="frontier"?this.frontier.show({open:!0}):t.seeds?this.model.many(["\
sabma"],s=>t.tell(this.model,s),t.seeds):(Object.assign(this.model.settings,t.then),this.train()),this.tell()}choose(t){this.model.choose(t),
this.lay(),this.train()}lay(){let{model:t}=this;this.training.lay(t.loss,t.world.top),this.testing.lay(t.test,t.world.top),this.tool=t.name===
"yours"?"down":"start"}read(t){t.size&&(this.model.read(t,gs),this.lay())}moveTest(t,s=this.model.bend){this.model.moveTest(t,s),this.testing.
lay(this.model.test,this.model.world.top),this.side("test"),this.shown(!0)}moveStart(t,s){this.play(!1);let{start:e}=this.model;this.tool===
"start"&&(this.model.start=[e[0]+t,e[1]+s]),this.again(!1)}average(t){this.model.ensemble=t,this.shown(!0)}toggle(t){let{on:s}=this.model;s.
has(t)&&s.size===1||(s.has(t)?s.delete(t):s.add(t),this.train())}play(t){if(t&&this.model.over&&this.model.rest(),this.clock?.play(t),this.panel.
playButton.textContent=t?"Pause":"Play",this.tell(),!t){for(let s of this.still)s(this);this.model.over&&this.model.compareT()}}train(){this.
again(),Ut.matches?(this.model.advance(st),this.play(!1),this.shown(!0)):this.play(!0)}again(t=!0){this.model.rest(t),this.training.density=
null,this.shown(!0);for(let s of this.still)s(this)}advance(t){this.model.advance(t),this.shown()}frame(t){this.due+=t*Wo;let s=Math.min(jo,
Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&this.advance(s),this.model.over&&(this.play(!1),this.shown(!0))}many(){this.play(!1),
this.model.many([...this.model.on],()=>be(this.model)),this.shown(!0)}recolor(){this.tell(),this.draw(!0),this.frontier.board.draw()}draw(t=!this.
clock?.playing){this.frames+=1,this.training.board.draw(),this.testing.board.draw(),this.panel.more.open&&((t||this.frames%3===1)&&this.section.
draw(),(t||this.frames%6===0)&&(this.traces.draw(),this.chart.draw()))}shown(t=!1){let{model:s}=this;if(this.draw(),this.clock?.playing||this.
tell(),(t||s.steps%4===0)&&this.tellScore(),!(t||!this.clock?.playing||s.steps%12===0))return;let e=s.tally||we(s);this.panel.verdict.textContent=
e,this.training.board.say(`${s.world.label}, seen from above. ${e}`);let o=`the training ground shifted by ${$(s.far)}`,r=s.bend?` and bent \
by ${s.bend}`:"";this.testing.board.say(`The test ground: ${o}${r}. ${ls(s)}`),this.section.say("Section of the ground through a mean, with \
the posteriors above it."),this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${e}`),this.chart.say(`After a run: test l\
osses over temperature, radius or seeds. ${e}`),this.sequence.tell()}tell(){this.panel.tell()}tellScore(){this.panel.score.replaceChildren(...Ue(
this))}share(t){let s=new URL(`?${this.model.query}`,location.href).href;history.replaceState(null,"",`?${this.model.query}${location.hash}`);
let e=r=>{t.textContent=r},o=navigator.clipboard?.writeText(s);Promise.resolve(o).then(()=>e("Copied"),()=>e("In the address")),setTimeout(()=>e(
"Link"),Go)}picture(){let s=[this.training.board,this.testing.board].map(({canvas:a})=>a).filter(a=>a.checkVisibility()),e=s.reduce((a,n)=>a+
n.width,0),o=w("canvas",{width:e,height:s[0].height}),r=0;for(let a of s)o.getContext("2d").drawImage(a,r,0),r+=a.width;Cs(o.toDataURL("imag\
e/png"),`flatviz-${this.model.name}.png`)}};var Ho={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{radius:1,kappa:1}};function Ve(i,t={}){let s=w(
"div",{class:"pg"});Rs(s),s.append(w("style",{},re));let e=new URLSearchParams(t.link===!1?"":location.search),o=e.has("embed"),r={},a=t.worlds??
["weights","step","network","gap"],n=new Set(o?a.slice(0,1):a);document.documentElement.classList.toggle("pg-embedded",o);let h=(f,g,d)=>s.append(
w("h2",{},f),...g.map(p=>w("p",{},p)),d);(n.has("weights")||n.has("step"))&&(r.weights=new ws(t),s.append(r.weights.node));let l=()=>{n.has(
"step")&&(r.step=new rs(r.weights),h("One step of SA-BMA",["The next step of SA-BMA's cloud on the ground above, once its run rests."],r.step.
node)),n.has("network")&&(r.network=new Wt(t),h("A network of about fifty weights",["The same two methods train a network. Where it is flat,\
 the rings of the loss around the draws are wide. On spirals the flatter training mostly has the lower test loss as well; on the moons it is\
 a matter of the seed. Click on a picture to add a point."],r.network.node)),n.has("gap")&&(r.gap=new Wt({...t,...Ho}),h("A regression with \
a gap",["No points lie in the middle, so an honest answer is unsure there. HMC, Hamiltonian Monte Carlo, draws from the exact posterior, if \
it runs long enough: its band is narrow at the points and wide between them. VI and SA-BMA fit one Gaussian: after some hundred steps their \
bands are too wide at the points and widen less in the middle."],r.gap.node)),s.playground=r},c=()=>{s.dataset.theme=X()?"dark":"light";for(let f of Object.
values(r))f.recolor()};return i.replaceChildren(s),c(),r.weights?setTimeout(l,50):l(),Ds(c)}var Yo={render:({model:i,el:t})=>Ve(t,{worlds:i.
get("worlds"),autoplay:!1,link:!1})};return so(_o);})();
