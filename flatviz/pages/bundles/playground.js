var flatvizPlayground=(()=>{var ms=Object.defineProperty;var go=Object.getOwnPropertyDescriptor;var mo=Object.getOwnPropertyNames;var uo=Object.prototype.hasOwnProperty;var wo=(o,t)=>{for(var s in t)ms(o,s,{get:t[s],enumerable:!0})},bo=(o,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let r of mo(
t))!uo.call(o,r)&&r!==s&&ms(o,r,{get:()=>t[r],enumerable:!(e=go(t,r))||e.enumerable});return o};var xo=o=>bo(ms({},"__esModule",{value:!0}),o);var Rr={};wo(Rr,{default:()=>Fr,mount:()=>co});function H(){let{body:o,documentElement:t}=document;return o.dataset.jpThemeLight?o.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Ds(o){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(o);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",o),()=>{
s.disconnect(),t.removeEventListener("change",o)}}function w(o,t={},...s){let e=document.createElement(o);for(let[r,n]of Object.entries(t))typeof n=="function"?e.addEventListener(r.slice(2),
n):n!=null&&n!==!1&&e.setAttribute(r,n===!0?"":String(n));return e.append(...s.filter(r=>r!=null)),e}function tt(o,t={},...s){let e=document.
createElementNS("http://www.w3.org/2000/svg",o);for(let[r,n]of Object.entries(t))e.setAttribute(r,String(n));return e.append(...s),e}var P=(o,t,s,e={})=>w(
"button",{type:"button",title:t,onclick:s,...e},o),it=o=>o.getContext("2d"),zs=o=>Number(o.toPrecision(3)).toString(),Bs=(o,t)=>`${o} ${t}${o===
1?"":"s"}`,jt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function Ws(o,t){let s=w("a",{href:o,download:t});document.body.append(s),s.click(),s.remove()}function js(o){o.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return o.addEventListener("keydown",t),()=>o.removeEventListener("keydown",t)}var X=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},D=(o,t)=>{let s=0;for(let e=0;e<o.length;e++)
s+=o[e]*t[e];return s},rt=o=>Math.sqrt(D(o,o)),F=(o,t,s=1)=>o.map((e,r)=>e+s*t[r]),L=o=>new Float64Array(o),_s=1e-12;var vo={bowl:({at:[o,t],h:s},e,r,n)=>(n[0]+=s*(e-o),n[1]+=s*(r-t),.5*s*((e-o)**2+(r-t)**2)),dent:({at:[o,t],depth:s,width:e},r,n,i)=>{let[a,
h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*(((r-o)/a)**2+((n-t)/h)**2));return i[0]+=l*(r-o)/(a*a),i[1]+=l*(n-t)/(h*h),-l},valley:({k:o,a:t,
b:s},e,r,n)=>{let i=r-t*e*e-s;return n[0]-=2*o*i*t*e,n[1]+=o*i,.5*o*i*i},wall:({at:o,height:t,soft:s},e,r,n)=>{let i=Math.tanh((e-o)/s);return n[0]+=
t*(1-i*i)/(2*s),.5*t*(1+i)},modes:({a:o,b:t,narrow:s,ratio:e},r,n,i)=>{let a=s*e,h=((r-o[0])**2+(n-o[1])**2)/(2*s**2),l=((r-t[0])**2+(n-t[1])**
2)/(2*a**2),c=Math.min(h,l),d=Math.exp(c-h),p=Math.exp(c-l),f=d/(d+p);return i[0]+=f*(r-o[0])/s**2+(1-f)*(r-t[0])/a**2,i[1]+=f*(n-o[1])/s**2+
(1-f)*(n-t[1])/a**2,c-Math.log(d+p)+Math.log(2)}},yo=(o,t,s,e)=>vo[o.kind](o,t,s,e),So=L(2);function Gt(o){return{dim:2,both(t,s){let e=s??So;
e[0]=e[1]=0;let r=0;for(let n of o)r+=yo(n,t[0],t[1],e);return r}}}function Gs(o,[t,s],e){let r=L(2);return{dim:2,both(n,i){r[0]=n[0]-t,r[1]=
n[1]-s-e*(n[0]*n[0]-1);let a=o.both(r,i);return i&&(i[0]-=2*e*n[0]*i[1]),a}}}var _t=class{constructor(t){this.widths=t,this.starts=[],this.dim=
0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=t[s]*(t[s-1]+1);this.a=t.map(L),this.d=t.map(L)}init(t,s=1){let e=L(this.dim);
return this.starts.forEach((r,n)=>{let i=this.widths[n+1]*(this.widths[n]+1);for(let a=0;a<i;a++)e[r+a]=s*t.normal()/Math.sqrt(this.widths[n])}),
e}forward(t,s,e){let{a:r,widths:n,starts:i}=this,a=n.length-1;for(let h=0;h<n[0];h++)r[0][h]=s[e+h];for(let h=0;h<a;h++){let l=r[h],c=r[h+1],
d=n[h],p=n[h+1],f=i[h]+d*p;for(let g=0,u=i[h];g<p;g++){let m=t[f+g];for(let b=0;b<d;b++)m+=t[u++]*l[b];c[g]=h+1<a?Math.tanh(m):m}}return r[a]}backward(t,s){
let{a:e,d:r,widths:n,starts:i}=this;for(let a=n.length-2;a>=0;a--){let h=e[a],l=r[a+1],c=r[a],d=n[a],p=n[a+1],f=i[a]+d*p;c.fill(0);for(let g=0,
u=i[a];g<p;g++){let m=l[g];s[f+g]+=m;for(let b=0;b<d;b++,u++)s[u]+=m*h[b],c[b]+=m*t[u]}if(a>0)for(let g=0;g<d;g++)c[g]*=1-h[g]*h[g]}}},ko=.5*
Math.log(2*Math.PI);function Hs(o,{x:t,y:s,noise:e}){let r=s.length,{widths:n,d:i}=o,a=n[0],h=n[n.length-1],l=i[i.length-1];return{dim:o.dim,
both(c,d){d&&d.fill(0);let p=0;for(let f=0;f<r;f++){let g=o.forward(c,t,f*a);if(e){let u=(g[0]-s[f])/e;p+=.5*u*u+Math.log(e)+ko,l[0]=u/e/r}else{
let u=-1/0,m=0;for(let b=0;b<h;b++)u=Math.max(u,g[b]);for(let b=0;b<h;b++)l[b]=Math.exp(g[b]-u),m+=l[b];p+=u+Math.log(m)-g[s[f]];for(let b=0;b<
h;b++)l[b]=(l[b]/m-(b===s[f]?1:0))/r}d&&o.backward(c,d)}return p/r}}}var vt=(o,t)=>o.mean.map((s,e)=>s+Math.exp(o.logStd[e])*t[e]),J=o=>({mean:o.mean.slice(),logStd:o.logStd.slice()});function at(o,t,s){let e={
value:0,mean:L(o.dim),logStd:L(o.dim)},r=L(o.dim);for(let n of s){e.value+=o.both(vt(t,n),r)/s.length;for(let i=0;i<r.length;i++)e.mean[i]+=
r[i]/s.length,e.logStd[i]+=r[i]*Math.exp(t.logStd[i])*n[i]/s.length}return e}function Nt(o,t){let s={value:0,mean:L(o.mean.length),logStd:L(
o.mean.length)};for(let e=0;e<o.mean.length;e++){let r=Math.exp(-2*t.logStd[e]),n=o.mean[e]-t.mean[e],i=Math.exp(2*o.logStd[e])*r;s.value+=.5*
(i+n*n*r-1)+t.logStd[e]-o.logStd[e],s.mean[e]=r*n,s.logStd[e]=i-1}return s}function us(o,t,s){let e=t.mean.map((l,c)=>Math.exp(2*o.logStd[c])*
l),r=t.logStd.map(l=>l/2),n=D(t.mean,e),i=Math.max(n+D(t.logStd,r),1e-300),a=s/Math.sqrt(i),h={mean:e.map(l=>a*l),logStd:r.map(l=>a*l)};return{
delta:h,share:n/i,there:{mean:F(o.mean,h.mean),logStd:F(o.logStd,h.logStd)}}}var Mo=(o,t)=>{let s=t/(rt(o)+_s);return o.map(e=>e*s)},To=.2,Ht=.9,
Pt=o=>({mean:L(o),squares:L(o+1),filled:0});function Ys(o,t,s,e,r,{rate:n,momentum:i,T:a}){let h=Nt(o,e),l=o.mean.length,c=L(l),d=L(l),p=a||
1,f=o.logStd.map(Math.exp);for(let u=0;u<l;u++){let m=Math.exp(-2*e.logStd[u]),b=1/(f[u]*f[u]);if(c[u]=s.mean[u]/p,d[u]=s.logStd[u]/p,a)for(let x of r){
let y=m*(o.mean[u]-e.mean[u])+(m-b)*f[u]*x[u];c[u]+=y/r.length,d[u]+=y*f[u]*x[u]/r.length}}t.filled=Ht*t.filled+1-Ht;let g=t.squares.map((u,m)=>{
let b=m?d[m-1]*d[m-1]:c.reduce((x,y,v)=>x+y*y*f[v]*f[v],0);return t.squares[m]=Ht*u+(1-Ht)*b,1/(1+Math.sqrt(t.squares[m]/t.filled))});for(let u=0;u<
l;u++)t.mean[u]=i*t.mean[u]+g[0]*f[u]*f[u]*c[u],o.mean[u]-=n*t.mean[u],o.logStd[u]-=.5*To*n*g[u+1]*d[u];return h}function qt(o,t,s,e,r,n){let i=at(
o,t,r);return{from:J(t),g:i,pull:Ys(t,s,i,e,r,n)}}function Ut(o,t,s,e,r,n){if(n.radius===0)return qt(o,t,s,e,r,n);let i=J(t),a=at(o,t,r),h=us(
t,a,n.radius),l=at(o,h.there,r);return{from:i,g:a,...h,worst:l,pull:Ys(t,s,l,e,r,n)}}function Vt(o,t,s,e,{rate:r,momentum:n,T:i,radius:a=0}){
let h=t.slice(),l=L(t.length),c=o.both(t,l),d=a?Mo(l,a):null,p=L(t.length),f=d?o.both(F(t,d),p):(p.set(l),c);for(let g=0;g<t.length;g++)s[g]=
n*s[g]+p[g]+i*Math.exp(-2*e.logStd[g])*(t[g]-e.mean[g]),t[g]-=r*s[g];return{from:h,value:c,at:f,g:l,e:d,there:p}}function Us(o,t,s,e,{rate:r,
T:n}){let i=L(t.length),a=o.both(t,i);for(let h=0;h<t.length;h++){let l=n*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-r*(i[h]+l)+Math.sqrt(
2*r*n)*e[h]}return{value:a,g:i}}function Vs(o,t,s,e){let r=L(e.length),n=o.both(vt(t,e),r);for(let i=0;i<e.length;i++)r[i]=r[i]*Math.exp(t.logStd[i])/
s+e[i];return{value:n/s+.5*D(e,e),slope:r,mean:n}}function Ao(o,t,s,e,r,n,i){let a=F(s,e.slope,-.5*r);for(let h=0;h<n;h++)t=F(t,a,r),e=o(t),
a=F(a,e.slope,h<n-1?-r:-.5*r),i?.push(t);return{z:t,momentum:a,at:e}}var Yt=class{t;error;accept;first;average;constructor(t,s=.8){this.t=0,
this.error=0,this.log=Math.log(t),this.average=Math.log(t),this.first=Math.log(t),this.accept=s}get size(){return Math.exp(this.log)}follow(t){
this.t+=1,this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=
this.t**-.75*(this.log-this.average)}settle(){this.t=0,this.error=0,this.log=this.average,this.first=this.average}};function Xs(o,t,s,e,r,n,i,{
time:a=Math.PI/2,most:h=500,path:l=void 0}={}){let c=Math.min(h,Math.ceil(r*a/i)),d=Ao(o,t,e,s,i,c,l),p=s.value+.5*D(e,e)-d.at.value-.5*D(d.
momentum,d.momentum),f=Number.isFinite(p)?Math.exp(Math.min(0,p)):0;return n<f?{z:d.z,at:d.at,rate:f,n:c,taken:!0}:{z:t,at:s,rate:f,n:c,taken:!1}}var mt=["gd","sam","vi","sabma","sgld","hmc"],z={vi:!0,sabma:!0},ht={sgld:!0,hmc:!0},yt=class{last=null;kept=[];constructor(t,s,e,r,n,i){this.
method=t,this.loss=s,this.prior=e,this.settings=n,this.random=new X(i),this.steps=0,this.q=J(r),this.velocity=Pt(s.dim),this.z=r.mean.map((a,h)=>(a-
e.mean[h])/Math.exp(e.logStd[h])),this.size=new Yt(.1)}get finite(){return this.q.mean.every(t=>Number.isFinite(t)&&Math.abs(t)<1e6)&&this.q.
logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(this.loss.dim))}step(){let{method:t,
loss:s,q:e,velocity:r,prior:n,settings:i}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let a=this.noise(),l=(t==="vi"?qt:Ut)(s,e,r,n,a,i);this.
last=l}else if(t==="gd"||t==="sam"){let a=t==="sam"?i.radius:0;this.last=Vt(s,e.mean,r.mean,n,{...i,radius:a})}else t==="sgld"?(this.last=Us(
s,e.mean,n,this.random.normals(s.dim),i),this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:e,
random:r}=this,n=p=>Vs(t,s,e.T,p),i=[],a=r.normals(t.dim),h=.5+r.uniform(),l=r.uniform(),c={path:i,most:e.most??200},d=Xs(n,this.z,n(this.z),
a,h,l,this.size.size,c);this.last={...d,path:i.map(p=>vt(s,p))},this.z=d.z,this.steps<=60&&this.size.follow(d.rate),this.steps===60&&this.size.
settle(),this.q.mean.set(vt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.push(t),this.kept.length>400&&this.
kept.shift())}members(t,s){if(z[this.method])return s.slice(0,t).map(e=>vt(this.q,e));if(ht[this.method]&&this.kept.length){let e=Math.max(1,
Math.floor(this.kept.length/2/t));return this.kept.filter((r,n)=>(this.kept.length-1-n)%e===0).slice(-t)}return[this.q.mean]}};function $o(o,t,s){let e=.001/Math.max(rt(s),1e-300),r=l=>{let c=L(t.length);return o.both(F(t,s,l*e),c),c},[n,i,a,h]=[r(1),r(-1),r(2),r(-2)];
return n.map((l,c)=>(8*(n[c]-i[c])-(a[c]-h[c]))/(12*e))}function Ft(o,t,s,e=40,r=null){let n=t.length,i=Math.min(n,e),a=[],h=[],l=[],c=new X(
0).normals(n);for(let{vector:f}of r??[])c=F(c,f,10*Math.sqrt(n));c=c.map(f=>f/rt(c));for(let f=0;f<i;f++){a.push(c);let g=$o(o,t,c);h.push(D(
c,g));for(let m=0;m<2;m++)for(let b of a)g=F(g,b,-D(b,g));let u=rt(g);if(f===i-1||u<1e-9)break;l.push(u),c=g.map(m=>m/u)}let d=a.length,p=Array.
from({length:d},(f,g)=>Float64Array.from({length:d},(u,m)=>g===m?h[g]:Math.abs(g-m)===1?l[Math.min(g,m)]:0));return Eo(p).slice(0,s).map(({value:f,
vector:g})=>{let u=L(n);return a.forEach((m,b)=>{for(let x=0;x<n;x++)u[x]+=g[b]*m[x]}),{value:f,vector:u}})}function Eo(o){let t=o.length,s=o.
map((e,r)=>Float64Array.from({length:t},(n,i)=>r===i?1:0));for(let e=0;e<40;e++){let r=0;for(let n=0;n<t;n++)for(let i=n+1;i<t;i++){if(r+=o[n][i]**
2,Math.abs(o[n][i])<1e-300)continue;let a=(o[i][i]-o[n][n])/(2*o[n][i]),h=(a>=0?1:-1)/(Math.abs(a)+Math.hypot(a,1)),l=1/Math.hypot(h,1),c=h*
l;for(let d=0;d<t;d++){let p=o[d][n],f=o[d][i];o[d][n]=l*p-c*f,o[d][i]=c*p+l*f}for(let d=0;d<t;d++){let p=o[n][d],f=o[i][d];o[n][d]=l*p-c*f,
o[i][d]=c*p+l*f}for(let d=0;d<t;d++){let p=s[d][n],f=s[d][i];s[d][n]=l*p-c*f,s[d][i]=c*p+l*f}}if(r<1e-24)break}return o.map((e,r)=>({value:e[r],
vector:s.map(n=>n[r])})).sort((e,r)=>r.value-e.value)}var ws=[];for(let o=-4.5;o<=4.5;o+=.5)for(let t=-4.5;t<=4.5;t+=.5)ws.push([o,t,Math.exp(
-.5*(o*o+t*t))]);var Oo=ws.reduce((o,t)=>o+t[2],0);function Xt(o,t){let[s,e]=t.logStd.map(Math.exp),r=L(2),n=0;for(let[i,a,h]of ws)r[0]=t.mean[0]+
s*i,r[1]=t.mean[1]+e*a,n+=h*o.both(r,null);return n/Oo}function Ks(o,t,s){let e=o.both(t,null);for(let r=1;r<=4;r++)for(let n=0;n<32;n++){let i=s*
r/4,a=2*Math.PI*n/32;e=Math.max(e,o.both([t[0]+i*Math.cos(a),t[1]+i*Math.sin(a)],null))}return e}function bs(o,t,s){let e=-1/0,r=0;for(let n of o)e=Math.max(e,n);for(let n=0;n<o.length;n++)t[s+n]=Math.exp(o[n]-e),r+=t[s+n];for(let n=0;n<
o.length;n++)t[s+n]/=r}function Js(o,t,s){let e=o.widths[0],r=o.widths[o.widths.length-1],n=s.length/e,i=L(n*r),a=L(n*r);for(let h of t){for(let l=0;l<
n;l++)bs(o.forward(h,s,l*e),a,l*r);for(let l=0;l<i.length;l++)i[l]+=a[l]/t.length}return i}function Qs(o,t){let s=o.length/t.length;return t.
reduce((e,r,n)=>e-Math.log(Math.max(o[n*s+r],1e-300)),0)/t.length}function Zs(o,t){let s=o.length/t.length;return t.filter((e,r)=>{for(let n=0;n<
s;n++)if(o[r*s+n]>o[r*s+e])return!1;return!0}).length/t.length}function te(o,t,s=15){let e=o.length/t.length,r=L(s);return t.forEach((n,i)=>{
let a=0;for(let c=1;c<e;c++)o[i*e+c]>o[i*e+a]&&(a=c);let h=o[i*e+a],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));r[l]+=(a===n?1:0)-h}),r.reduce(
(n,i)=>n+Math.abs(i),0)/t.length}var nt=[2.4,2],Rt=1.2,se=1.5,ee=200,xs=1500,oe=200,re=3,Ct=.15,vs=[[78,134,181],[214,133,62]],ys={spiral:"spirals",moons:"two moons",circles:"\
circles",xor:"XOR",none:"your points alone, two of each or more"},ne="a regression with a gap",Kt={one:["one layer of 12",[12]],two:["two la\
yers of 8",[8,8]]};var A=o=>Number.isFinite(o)?zs(o):"–",I=o=>METHOD_STYLES[o][0],lt=o=>METHOD_STYLES[o][3],S=o=>METHOD_STYLES[o][H()?2:1],Lo={light:{ink:"#1\
f2933",soft:"#52606d",paper:"#ffffff",line:"#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{
ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191e",line:"#3a434d",low:[14,54,74],high:[72,67,60],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},T=()=>Lo[H()?
"dark":"light"],Ss=(o,t)=>`${t} ${o}px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`;function k(o,t,s,e,{color:r=T().ink,
size:n=13,align:i="left",weight:a=400,halo:h=!0,base:l="middle"}={}){o.font=Ss(n,a),o.textAlign=i,o.textBaseline=l,h&&(o.lineWidth=3.5,o.strokeStyle=
T().halo,o.strokeText(t,s,e)),o.fillStyle=r,o.fillText(t,s,e)}function Y(o,t,s,e,r,n){if(o.beginPath(),o.lineWidth=2.5,o.strokeStyle=o.fillStyle=
n,t==="x"){o.moveTo(s-r,e-r),o.lineTo(s+r,e+r),o.moveTo(s+r,e-r),o.lineTo(s-r,e+r),o.stroke();return}if(t==="cross"){o.moveTo(s-r,e),o.lineTo(
s+r,e),o.moveTo(s,e-r),o.lineTo(s,e+r),o.stroke();return}t==="square"?o.rect(s-r,e-r,2*r,2*r):t==="triangle-up"?(o.moveTo(s,e-1.2*r),o.lineTo(
s+1.1*r,e+r),o.lineTo(s-1.1*r,e+r),o.closePath()):o.arc(s,e,r,0,2*Math.PI),o.fill(),o.lineWidth=1.5,o.strokeStyle=T().paper,o.stroke()}function St(o,t,s,e=()=>0){
let{low:r,high:n}=T();return ks(t,s,i=>{let a=1+e(Math.floor(i/s),i%s);return r.map((h,l)=>(h+(n[l]-h)*o[i])*a)})}function ks(o,t,s){let e=w(
"canvas",{width:t,height:o}),r=it(e),n=r.createImageData(t,o);for(let i=0;i<o*t;i++)n.data.set([...s(i),255],4*i);return r.putImageData(n,0,
0),e}function ct(o,t,s,e){let r=[],n=(i,a)=>(e-i)/(a-i);for(let i=0;i+1<t;i++)for(let a=0;a+1<s;a++){let h=i*s+a,l=o[h],c=o[h+1],d=o[h+s+1],
p=o[h+s],f=[];l<e!=c<e&&f.push([a+n(l,c),i]),c<e!=d<e&&f.push([a+1,i+n(c,d)]),p<e!=d<e&&f.push([a+n(p,d),i+1]),l<e!=p<e&&f.push([a,i+n(l,p)]);
for(let g=0;g+1<f.length;g+=2)r.push([...f[g],...f[g+1]])}return r}function dt(o,t,s,e,r,n){o.beginPath();for(let[i,a,h,l]of t)o.moveTo(i/(e-
1)*r,a/(s-1)*n),o.lineTo(h/(e-1)*r,l/(s-1)*n);o.stroke()}function Jt(o,t,s,e,r,n,i,{log:a=!1,most:h=0}={}){let l=T(),c=52,d=v=>a?Math.log10(Math.max(v,1e-6)):v,p=i.flatMap(v=>v.y.filter(Number.isFinite).
map(d)),[f,g]=[Math.min(...p),Math.max(...p)];p.length||([f,g]=[0,1]);let u=a?.6:.05*Math.max(1,Math.abs(g));g-f<u&&([f,g]=[(f+g-u)/2,(f+g+u)/
2]);let m=Math.max(h,...i.map(v=>v.x.at(-1)??0),10),b=v=>t+(e-c)*v/m,x=v=>s+r-7-(r-32)*(d(v)-f)/(g-f);o.strokeStyle=l.line,o.lineWidth=1,o.beginPath(),
o.moveTo(t,s+r-.5),o.lineTo(t+e-c,s+r-.5),o.stroke(),k(o,n,t,s+9,{color:l.soft,size:12.5,halo:!1});let y=[];for(let v of i){o.beginPath(),v.
y.forEach((C,W)=>{Number.isFinite(C)&&o.lineTo(b(v.x[W]),x(C))}),o.strokeStyle=v.color,o.globalAlpha=v.faint?.25:v.thin?.6:1,o.lineWidth=v.faint||
v.thin?1.2:2.4,o.stroke(),o.globalAlpha=1;let M=v.y[v.y.length-1];!v.faint&&!v.thin&&Number.isFinite(M)&&y.push({x:b(v.x[v.x.length-1])+6,y:x(
M),text:A(M),color:v.color})}y.sort((v,M)=>v.y-M.y),y.forEach((v,M)=>{M&&v.y<y[M-1].y+14&&(v.y=y[M-1].y+14)});for(let v=y.length-1,M=s+r;v>=
0;M=y[v].y-14,v--)y[v].y=Math.min(y[v].y,M);for(let v of y)k(o,v.text,v.x,v.y,{color:v.color,size:12.5,weight:600})}var Ms=2*Math.PI,ie=10,Io=620;function ae(o,t,s,e){let{mean:r,fields:n}=o.trial,i=H()?[21,25,30]:[255,255,255],a=ks(27,27,f=>{let g=Math.abs(
2*r[f]-1),u=vs[r[f]>.5?1:0];return i.map((m,b)=>m+(u[b]-m)*.75*g)});t.imageSmoothingQuality="high",t.drawImage(a,.5,.5,26,26,0,0,s,e);let h=(f,g,u,m)=>{
t.globalAlpha=u,t.lineWidth=m,dt(t,ct(f,27,27,g),27,27,s,e),t.globalAlpha=1},{ink:l,soft:c}=T();t.strokeStyle=l;for(let f of o.shadows)h(f.field,
0,.28,1.2);if(t.strokeStyle=S(o.method),n.length>1)for(let f of n)h(f,.5,.55,1.1);h(r,.5,1,2.6),No(o,t,s,e);let d={size:12.5,color:c};k(t,"p\
ale: unsure",8,e-12,d);let p=n.length>1?"thin lines: the draws":"one point: one line";k(t,p,s-8,e-12,{...d,align:"right"})}function No({world:o},t,s,e){
let{x:r,y:n}=o.data.train,i=a=>H()?Math.min(255,1.35*a):.8*a;t.strokeStyle=T().paper,t.lineWidth=1.5,n.forEach((a,h)=>{let l=(r[2*h]/nt[0]+1)/
2*s,c=(1-r[2*h+1]/nt[1])/2*e;t.fillStyle=`rgb(${vs[a].map(i).join()})`,t.beginPath(),a?t.rect(l-4.5,c-4.5,9,9):t.arc(l,c,5,0,Ms),t.fill(),t.
stroke()})}function he(o,t,s,e){let{mean:r,fields:n,spread:i}=o.trial,{panes:a,data:h}=o.world,l=r.length,c=Math.max(...a.map(({trial:x})=>x.
highest)),d=x=>x/(l-1)*s,p=x=>e/2-x/c*e/2;t.fillStyle=S(o.method),t.beginPath(),r.forEach((x,y)=>t.lineTo(d(y),p(x+i[y])));for(let x=l-1;x>=
0;x--)t.lineTo(d(x),p(r[x]-i[x]));t.globalAlpha=.16,t.fill(),t.globalAlpha=1;let f=(x,y,v)=>{t.beginPath();for(let M=0;M<x.length;M++)t.lineTo(
d(M),p(x[M]));t.globalAlpha=y,t.lineWidth=v,t.stroke(),t.globalAlpha=1},{ink:g,soft:u}=T();t.strokeStyle=g;for(let x of o.shadows)f(x.field,
.25,1.2);if(t.strokeStyle=S(o.method),n.length>1)for(let x of n)f(x,.45,1.1);f(r,1,2.6);let{x:m,y:b}=h.train;t.fillStyle=g,b.forEach((x,y)=>{
t.beginPath(),t.arc((m[y]/3+1)/2*s,p(x),3.6,0,Ms),t.fill()}),o===a[0]&&k(t,"band: two standard deviations",8,e-12,{size:12.5,color:u})}function le(o,t,s,e){
let{ink:r,soft:n}=T(),{trial:i,world:a}=o;if(!i.drawn){k(t,"loss on the plane of the two sharpest directions",2,10,{color:n,size:12.5,halo:!1});
return}let{values:h,axes:l,center:c}=i.drawn,d=Math.min(...h),p=h.map(u=>Math.min(1,(u-d)/a.high)),f=St(p,23,23);t.drawImage(f,.5,.5,22,22,0,
0,s,e),t.strokeStyle=H()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let u=1;u<ie;u++){let m=ct(p,23,23,u/ie);dt(t,m,23,23,
s,e)}t.fillStyle=S(o.method);for(let u of i.members()){let m=F(u,c,-1),b=(D(m,l[0].vector)/Rt+1)/2*s,x=(1-2*D(m,l[1].vector)/Rt)/2*e;t.beginPath(),
t.arc(b,x,3,0,Ms),t.fill()}let g=`loss, two sharpest directions · λ₁ = ${A(l[0].value)}`;k(t,g,6,12,{color:r,size:12.5})}function ce(o,t,s,e){
if(!o.steps){let l={color:T().soft,size:15,halo:!1};k(t,"Play draws the scores against the steps here.",0,12,l);return}let n=[[o.regression?
"test NLL":"test loss","test"],["calibration error, ECE","ece"],["λ₁ of the training loss","lambda"]].filter(([,l])=>l!=="ece"||!o.regression),
i=s<Io&&n.length>2?1:n.length,a=(s-14*(i-1))/i,h=e*i/n.length;n.forEach(([l,c],d)=>{let f=o.panes.flatMap(({method:b,trial:x,shadows:y})=>{let v=S(
b);return[...y.map(C=>({color:v,x:C.x,y:C[c],faint:!0})),{color:v,x:x.x,y:x[c]}]}).filter(b=>b.y.some(Number.isFinite)),g=d%i*(a+14),u=Math.
floor(d/i)*h,m={log:c==="lambda",most:oe};Jt(t,g,u,a,h-4,l,f,m)})}var Po=30,qo=1.5,Fo=.05,Ro=12,de=(o,t)=>({mean:o,logStd:new Float64Array(o.length).fill(Math.log(t))});function Co({regression:o,settings:t,
data:s},e){let{radius:r,rho:n,kappa:i,rate:a}=t,h=o&&!z[e]?.05:1,l=e==="sgld"?.2:1;return{T:i/s.train.y.length,rate:a*h*l,momentum:.9,draws:2,
radius:e==="sam"?n:r,most:o?30:12}}var Dt=class{fields=[];turn=0;x=[];test=[];ece=[];lambda=[];right=NaN;drawn=null;row=23;lost=!1;constructor(t,s){
let{regression:e,net:r,seed:n,data:i}=t;this.world=t,this.network=new _t([e?1:2,...Kt[r][1],e?1:2]);let{network:a}=this,h=new X(1e3+n);this.
learned=Hs(a,i.train);let l=de(new Float64Array(a.dim),qo),c=de(a.init(h),Fo),d=Co(t,s);this.learner=new yt(s,this.learned,l,c,d,n),this.noise=
Array.from({length:Po},()=>h.normals(a.dim)),this.near=Ft(this.learned,this.learner.q.mean,2),this.axes=this.near,this.next={axes:this.axes,
center:c.mean,values:new Float64Array},this.mean=new Float32Array,this.refresh(1/0),this.score(),this.curve(),this.fill(23)}members(){return this.
learner.members(this.world.draws,this.noise)}step(){this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),
[e]=this.network.widths,{grid:r}=this.world.data,n=r.length/e,i=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.
length;for(let a=0;a<s.length;a++){if(this.fields[a]&&(a-this.turn+s.length)%s.length>=t)continue;let h=this.fields[a]??=new Float32Array(n);
for(let l=0;l<n;l++){let c=this.network.forward(s[a],r,l*e);this.world.regression?h[l]=c[0]:(bs(c,i,0),h[l]=i[1])}}t<s.length&&(this.turn+=t),
this.mean=new Float32Array(n);for(let a of this.fields)for(let h=0;h<n;h++)this.mean[h]+=a[h]/s.length}score(){let{test:t}=this.world.data,s=this.
members();if(this.x.push(this.world.steps),t.noise!==null)this.test.push(this.targetLoss(s,t,t.noise)),this.ece.push(NaN);else{let e=Js(this.
network,s,t.x);this.test.push(Qs(e,t.y)),this.ece.push(te(e,t.y)),this.right=Zs(e,t.y)}this.lambda.push(this.lost?NaN:this.sharpest()[0].value)}targetLoss(t,{
x:s,y:e},r){return e.reduce((i,a,h)=>{let c=t.map(d=>{let p=(this.network.forward(d,s,h)[0]-a)/r;return Math.exp(-.5*p*p)}).reduce((d,p)=>d+
p,0)/t.length;return i-Math.log(Math.max(c,1e-30))+Math.log(r)+.5*Math.log(2*Math.PI)},0)/e.length}sharpest(){let{learned:t,learner:s,near:e}=this;
return this.near=Ft(t,s.q.mean,2,Ro,e),this.near}curve(){if(this.lost)return;this.axes=this.sharpest();let t=new Float64Array(529);this.next=
{axes:this.axes,center:this.learner.q.mean.slice(),values:t},this.row=0}fill(t){if(!this.world.planes||this.row===23)return;let{values:s,axes:e,
center:r}=this.next,n=i=>(2*i/22-1)*Rt;for(let i=Math.min(23,this.row+t);this.row<i;this.row++)for(let a=0;a<23;a++){let h=F(F(r,e[0].vector,
n(a)),e[1].vector,-n(this.row)/2);s[this.row*23+a]=this.learned.both(h,null)}this.row===23&&(this.drawn=this.next)}differ(t){let s=this.fields.
reduce((e,r)=>e+(r[t]-this.mean[t])**2,0);return Math.sqrt(s/this.fields.length)}get spread(){return this.mean.map((t,s)=>2*Math.hypot(this.
differ(s),Ct))}get highest(){let{spread:t}=this;return Math.min(6,Math.max(2,...this.mean.map((s,e)=>1.05*(Math.abs(s)+t[e]))))}get unsure(){
let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.data.train;return{gap:t(-.1),points:s.reduce((e,r)=>e+t(r),0)/s.length}}};var ut=o=>[...o.children],st=class{constructor(t,s,e,r,{say:n=a=>String(a),help:i=""}={}){this.stops=s,this.say=n,this.input=w("input",{type:"\
range",min:0,max:s.length-1,step:1,"aria-label":t}),this.text=w("output"),this.node=w("div",{class:"pg-slider",title:i||null},w("span",{},t),
this.text,this.input),this.input.addEventListener("input",()=>{this.told(),r(this.value,!1)}),this.input.addEventListener("change",()=>r(this.
value,!0)),this.value=e}get value(){return this.stops[Number(this.input.value)]}set value(t){let s=this.stops.map(e=>Math.abs(e-t));this.input.
value=String(s.indexOf(Math.min(...s))),this.told()}told(){this.text.textContent=this.say(this.value),this.input.setAttribute("aria-valuetex\
t",this.text.textContent)}},et=class{constructor(t,s,e,r){let n=s.map(([i,a])=>w("option",{value:i,selected:i===e},a));this.select=w("select",
{"aria-label":t},...n),this.select.addEventListener("change",()=>r(this.select.value)),this.node=w("label",{class:"pg-menu"},w("span",{},t),
this.select)}},B=class{width=0;height=0;dense=1;constructor(t,{ratio:s,label:e,least:r=0,most:n=1/0}){this.canvas=w("canvas",{role:"img","ar\
ia-label":e}),this.node=w("div",{class:"pg-board"},this.canvas),this.paint=t,this.ratio=s,this.least=r,this.most=n,new ResizeObserver(()=>this.
fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.min(this.most,Math.max(this.least,t*this.ratio)));
if(!t||t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);this.width=t,this.height=s,this.dense=e,Object.assign(this.
canvas,{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.
width)return;let t=it(this.canvas);t.setTransform(this.dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap=
"round",this.paint(t,this.width,this.height)}say(t){this.canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},kt=class{constructor(t,s){
this.frame=s,this.playing=!1,this.visible=!1,this.request=0,this.last=0,new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.
wake()},{threshold:.05}).observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=
performance.now();let t=s=>{if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.request=requestAnimationFrame(
t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}};var Do=8,zo=8,Qt={regression:.44,classes:.8},Zt=class{shadows=[];constructor(t,s){this.world=t,this.method=s,this.trial=new Dt(t,s),this.plane=
new B((r,n,i)=>this.drawInputs(r,n,i),{ratio:t.regression?Qt.regression:Qt.classes,label:""}),this.loss=new B((r,n,i)=>le(this,r,n,i),{ratio:.5,
label:"",most:230}),this.plane.canvas.addEventListener("click",r=>t.add(r,this.plane.canvas));let e=mt.map(r=>[r,I(r)]);this.menu=new et("me\
thod",e,s,r=>{this.method=r,this.shadows=[],t.again()}),this.reading=w("p",{class:"pg-reads"}),this.node=w("div",{class:"pg-pane"},w("div",{
class:"pg-head"},this.menu.node,this.reading),this.plane.node,t.planes?this.loss.node:null)}begin(){this.plane.reshape(this.world.regression?
Qt.regression:Qt.classes),this.trial=new Dt(this.world,this.method)}keep(){let{mean:t,x:s,test:e,ece:r,lambda:n}=this.trial;if(s.length<zo)return;
let i=this.world.regression?t:t.map(a=>a-.5);this.shadows.push({field:i,x:s,test:e,ece:r,lambda:n}),this.shadows.length>Do&&this.shadows.shift()}draw(){
this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){if(this.world.regression?he(this,t,s,e):ae(this,t,s,e),!this.trial.lost)return;let r={align:"\
center",weight:700};k(t,"diverged: lower rate or radius",s/2,e/2,r)}};function Ts(o,t,s,e){let r=new Float64Array(o==="gap"?t:2*t),n=o==="gap"?new Float64Array(t):new Int32Array(t);for(let i=0;i<t;i++){let a=i%
2,h=e.uniform(),l=a?-1:1;if(o==="gap"){r[i]=a?-1.8+.8*h:.8+h,n[i]=Math.sin(2.2*r[i])+Ct*e.normal();continue}let c={moons:()=>a?[.5-1.2*Math.
cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let f=a?.6:1.5;return[f*Math.
cos(2*Math.PI*h),f*Math.sin(2*Math.PI*h)]},spiral:()=>{let f=.25+1.5*h,g=4.2*h+(a?Math.PI:0);return[f*Math.cos(g),f*Math.sin(g)]},xor:()=>{let f=e.
uniform()<.5?1:-1;return[f*(.25+1.3*h),f*l*(.25+1.3*e.uniform())]}},[d,p]=c[o]();r[2*i]=d+s*e.normal(),r[2*i+1]=p+s*e.normal(),n[i]=a}return{
x:r,y:Array.from(n),noise:o==="gap"?Ct:null}}var Bo=121;function pe(o){return o==="gap"?Float64Array.from({length:Bo},(t,s)=>-3+s/20):Float64Array.
from({length:1458},(t,s)=>{let e=s>>1;return s%2?nt[1]*(1-2*Math.floor(e/27)/26):nt[0]*(2*(e%27)/26-1)})}var Wo=200;function fe({trial:o,world:t}){if(o.lost)return"diverged";let s=o.test.length-1,e=A(o.test[s]);if(t.regression){let{gap:i,points:a}=o.
unsure,[h,l]=[i,a].map(c=>Number(c.toPrecision(2)));return`test NLL ${e}; spread ${h} in the gap, ${l} at the points`}let r=Math.round(100*o.
right),n=A(o.axes[0].value);return`test loss ${e}, ECE ${A(o.ece[s])}, ${r} % right, λ₁ ${n}`}function ge({panes:o,steps:t,kind:s,regression:e}){
let r=o.filter(({trial:l})=>!l.lost).map(({method:l,trial:c})=>({name:I(l),loss:c.test[c.test.length-1],lambda:c.lambda[c.lambda.length-1]})).
filter(({loss:l})=>Number.isFinite(l));if(t<Wo||e||r.length<2)return s==="none"?" · tested on the points themselves":"";let n=r.reduce((l,c)=>c.
loss<l.loss?c:l),i=r.reduce((l,c)=>c.lambda<l.lambda?c:l),a=r.reduce((l,c)=>c.lambda>l.lambda?c:l);if(n===i)return`. ${n.name} is flatter an\
d has the lower test loss.`;let h=n===a?"its mean is the sharpest":`${i.name} is flatter`;return`. ${n.name} has the lower test loss, though\
 ${h}: flat is not all that counts.`}var jo=80,_o={radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15},zt=class{sliders={};yours=[];side=0;net="one";seed=1;draws=10;steps=0;due=0;frames=0;rounds=0;jobs=[];constructor(t={}){
let{methods:s=["vi","sabma"],planes:e=!0,autoplay:r=!0}=t;this.kind=t.kind??"spiral",this.planes=e,this.label=t.label??"a network",this.settings=
{..._o,...t.settings},this.data=this.dataOf(),this.panes=s.map(n=>new Zt(this,n)),this.traces=new B((n,i,a)=>ce(this,n,i,a),{ratio:.16,label:"",
least:e?190:110,most:330}),this.verdict=w("p",{class:"pg-verdict",role:"status"}),this.playButton=P("Play","play or pause",()=>this.play(!this.
clock.playing),{class:"pg-play"}),this.node=this.build(),this.offer(),this.draw(),this.clock=new kt(this.panes[0].node,n=>this.frame(n)),!jt.
matches&&r&&this.play(!0)}get regression(){return this.kind==="gap"}get high(){return this.regression?40:se}build(){return w("section",{class:"\
pg-network","aria-label":this.label},w("div",{class:"pg-panes"},...this.panes.map(t=>t.node)),this.buttons(),w("div",{class:"pg-sliders"},this.
slider("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,2.8,4],t=>t?`${t} × the width of q`:"0: the same as VI"),this.slider("rho","radius \
of SAM",[0,.05,.1,.2,.5,1],t=>`${t}, a distance`),this.slider("kappa","temperature",[.01,.03,.1,.3,1],t=>t===1?"1: Bayes":`${t}: colder than\
 Bayes`,"the weight of KL(q ‖ prior)")),this.verdict,this.traces.node,this.more())}buttons(){let t=P("Restart","the same run from its star\
t",()=>this.restart()),e=P("New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let h of this.panes)h.
keep();this.seed+=1,this.restart()}),r=w("div",{class:"pg-row"},this.playButton,t,e);if(!this.planes)return r;let n=new et("data",Object.entries(
ys),this.kind,h=>{this.kind=h,this.restart(!1)}),i=[["0","a circle"],["1","a square"]],a=new et("a click adds",i,"0",h=>{this.side=Number(h)});
return r.append(n.node,a.node),r}more(){let t=Object.entries(Kt).map(([n,[i]])=>[n,i]),s=n=>{this.draws=n;for(let{trial:i}of this.panes)i.refresh(
1/0);this.draw()},e=n=>`${n} draw${n>1?"s":""}`,r=new et("network",t,this.net,n=>{this.net=n,this.restart(!1)});return w("details",{class:"p\
g-more"},w("summary",{},"More: network, points, rate"),r.node,w("div",{class:"pg-sliders"},this.slider("rate","learning rate",[.005,.01,.02,
.05,.1]),this.slider("shots","points a class or side",[4,8,12,20,40,80]),this.slider("noise","noise of the points",[0,.1,.15,.2,.3,.5]),new st(
"ensemble",[1,2,5,10,20,30],10,s,{say:e}).node))}slider(t,s,e,r,n){let i=(h,l)=>{this.settings[t]=h,l&&this.restart(!1)},a=new st(s,e,this.settings[t],
i,{say:r,help:n});return this.sliders[t]=a,a.node}offer(){this.sliders.rho.node.hidden=this.panes.every(t=>t.method!=="sam"),this.sliders.noise.
node.hidden=this.regression}add(t,s){if(this.regression)return;let e=s.getBoundingClientRect();this.yours.push([nt[0]*(2*(t.clientX-e.left)/
e.width-1),nt[1]*(1-2*(t.clientY-e.top)/e.height),this.side]),this.restart(!1)}points(t,s){let{kind:e,settings:r,yours:n}=this,i=e==="none"&&
[0,1].every(h=>n.filter(l=>l[2]===h).length>1),a=Ts(e==="none"?"xor":e,i?0:t,r.noise,s);return this.regression?a:{x:Float64Array.from([...a.
x,...n.flatMap(([h,l])=>[h,l])]),y:[...a.y,...n.map(h=>h[2])],noise:a.noise}}dataOf(){let{kind:t,settings:s,seed:e}=this,r=new X(e),n=this.points(
2*s.shots,r),i=t==="none"?n:Ts(t,ee,s.noise,r);return{train:n,test:i,grid:pe(t)}}restart(t=!0){if(!t)for(let s of this.panes)s.shadows=[];this.
again(),this.play(!0)}again(){this.steps=0,this.jobs=[],this.data=this.dataOf(),this.offer();for(let t of this.panes)t.begin();this.draw()}play(t){
if(t&&this.steps>=xs&&this.again(),this.clock.play(t),this.playButton.textContent=t?"Pause":"Play",!t){for(let{trial:s}of this.panes)s.refresh(
1/0),s.curve(),s.fill(23),s.score();this.draw()}}advance(){this.steps+=1;for(let{method:t,trial:s}of this.panes)(t!=="hmc"||this.steps%2)&&s.
step()}frame(t){let s=performance.now();for(this.due=Math.min(2,this.due+t*jo);this.due>=1;this.due--)this.advance();this.frames+=1,this.jobs.
length||(this.jobs=this.round()),this.jobs.shift()?.(),performance.now()-s<re&&this.jobs.shift()?.(),this.tell(),this.steps>=xs&&this.play(!1)}round(){
this.rounds+=1;let t=this.rounds%4===0,s=this.panes.filter(({trial:r})=>!r.lost),e=s.flatMap(({trial:r,plane:n,loss:i})=>[()=>r.refresh(2),()=>n.
draw(),...this.planes?[()=>r.fill(2)]:[],...t?[()=>r.score(),()=>i.draw()]:[],...this.rounds%12===2?[()=>r.curve()]:[]]);return(t||!s.length)&&
e.push(()=>this.traces.draw()),e}recolor(){this.draw()}draw(){for(let t of this.panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.
frames%30===0){if(!t)return;this.verdict.textContent=`Step ${this.steps}${ge(this)}`;let s=this.panes.map(e=>{let r=I(e.method),n=fe(e);e.reading.
textContent=n;let i=ys[this.kind]??ne;return e.plane.say(`What the ensemble of ${r} predicts for ${i}. ${n}.`),e.loss.say(`Training loss of ${r}\
 on the plane of its two sharpest directions, the draws projected onto it.`),`${r}: ${n}`});this.traces.say(`Against steps: ${s.join("; ")}.`)}};var me=`.pg {
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
`;var ue=24,Ho=[0,17,-17,34,-34,51,-51,68],Yo=(o,t)=>o[0]<t[2]&&o[2]>t[0]&&o[1]<t[3]&&o[3]>t[1];function As(o,t,s,e){let r=([n,i,a,h])=>n>=2&&
i>=2&&a<=s-2&&h<=e-2;return o.find(n=>r(n)&&!t.some(i=>Yo(n,i)))??o[0]}var Mt=class{taken=[];constructor(t,s,e,r=4){this.pen=t,this.left=r,this.
width=s,this.height=e}avoid(t,s,e=7){this.taken.push([t-e,s-e,t+e,s+e])}put(t,s,e,r={}){let{size:n=13,weight:i=400,align:a="left"}=r;this.pen.
font=Ss(n,i);let h=this.pen.measureText(t).width,d={left:[s,s-h-ue],center:[s-h/2],right:[s-h,s+ue]}[a].map(f=>Math.max(this.left,Math.min(this.
width-h-4,f))).flatMap(f=>Ho.map(g=>[f,e+g-8,f+h,e+g+8])),p=As(d,this.taken,this.width,this.height);this.taken.push(p),k(this.pen,t,p[0],p[1]+
8,{...r,align:"left"})}};var Uo=10,Vo=[0,14,26,40,56,74],Xo=[-1,0,1].flatMap(o=>[-1,0,1].map(t=>[o,t])),Ko=11,Jo=.72,Qo=.3,we=(o,t,s)=>[o-s,t-s,o+s,t+s],$s=class{labels=[];taken=[];constructor(t,s){
this.svg=t,this.view=s}group(t){let s=tt("g",{"data-s":t});return this.svg.append(s),s}ellipse(t,{mean:s,logStd:e},r,n){let{X:i,Y:a,unit:h}=this.
view,[l,c]=[0,1].map(p=>r*Math.exp(e[p])*h),d={cx:i(s[0]),cy:a(s[1]),rx:l,ry:c};t.append(tt("ellipse",{...d,fill:"none","stroke-width":2.4,...n}))}point(t,s,e,r){
let n={cx:this.view.X(s[0]),cy:this.view.Y(s[1]),r:e};t.append(tt("circle",{...n,fill:r,stroke:T().paper,"stroke-width":1.5}))}name(t,{mean:s,
logStd:e},{widths:r,way:n,off:i},a,h){let{X:l,Y:c,unit:d}=this.view,[p,f]=[0,1].map(g=>n[g]*r*Math.exp(e[g])*d*Jo);this.labels.push({into:t,
x:l(s[0])+p+i[0],y:c(s[1])+f+i[1],text:a,color:h})}arrow(t,[s,e],[r,n],i,a="",h={}){let l=Math.hypot(r,n),c=Math.min(Ko,.6*l),[d,p]=l?[r/l,n/
l]:[0,0];for(let x=0;x<=12;x++)this.taken.push(we(s+r*x/12,e+n*x/12,5));let f={x2:s+r-d*c*.7,y2:e+n-p*c*.7},g={stroke:i,"stroke-width":3.2,...h};
t.append(tt("line",{x1:s,y1:e,...f,...g}));let u=x=>{let[y,v]=[-p*x*.55,d*x*.55];return`${s+r-d*c+y},${e+n-p*c+v}`},m=`M${s+r},${e+n} L${u(c)}\
 L${u(-c)} Z`;if(t.append(tt("path",{d:m,fill:i})),!a)return;let b={x:s+r+9*d+(d<0?-14:2),y:e+n+14*p+5};this.labels.push({into:t,...b,text:a,
color:i})}write(t,s){for(let{into:e,x:r,y:n,text:i,color:a}of this.labels){let h=Uo*i.length,l=Vo.flatMap(d=>Xo.map(([p,f])=>[r+d*p,n+d*f])).
map(([d,p])=>[d,p-14,d+h,p+4]),c=As(l,this.taken,t,s);this.taken.push(c),e.append(tt("text",{x:c[0],y:c[3]-4,fill:a},i))}}};function be(o,{record:t,
settings:s,noise:e,after:r,plain:n},i,a){let{X:h,Y:l,width:c,height:d}=i,{from:p,g:f,there:g,worst:u}=t,m=new $s(o,i);o.setAttribute("viewBo\
x",`0 0 ${c} ${d}`),o.replaceChildren();let[b,x,y]=["sabma","vi","sam"].map(S),{ink:v}=T(),M=Math.max(rt(f.mean),u?rt(u.mean):0,1e-9),C=Qo*Math.
min(c,d)/M,W=O=>[O.mean[0]*C,-O.mean[1]*C],E=O=>[h(O.mean[0]),l(O.mean[1])],G=O=>E(O).map((N,j)=>N-E(p)[j]);if(a>=2){let O=m.group("ball"),N={
stroke:y,"stroke-width":2,"stroke-dasharray":"3 6"};m.ellipse(O,p,s.radius,N),m.name(O,p,{widths:s.radius,way:[1,1],off:[6,12]},"ball",y)}let Q=m.
group("q");m.ellipse(Q,p,2,{stroke:v,fill:v,"fill-opacity":.07});for(let O of e){let[N,j]=[0,1].map(Z=>p.mean[Z]+Math.exp(p.logStd[Z])*O[Z]);
Q.append(tt("circle",{cx:h(N),cy:l(j),r:3.4,fill:v}))}if(m.point(Q,p.mean,6,v),m.name(Q,p,{widths:2,way:[-1,-1],off:[-20,-6]},"q",v),a>=3&&g&&
u){let O=m.group("worst");m.ellipse(O,g,2,{stroke:y,fill:y,"fill-opacity":.08}),m.arrow(O,E(p),G(g),y,"Δ"),m.point(O,g.mean,5,y),m.name(O,g,
{widths:2,way:[-1,1],off:[-26,16]},"q′",y),a>=5&&Zo(m,E(g),W(f),W(u)),a>=4&&m.arrow(m.group("there"),E(g),W(u),b,"g′")}if(a>=1&&m.arrow(
m.group("g"),E(p),W(f),x,"g"),a>=6){let O=m.group("move");m.ellipse(O,r,2,{stroke:b,"stroke-dasharray":"7 4"}),m.arrow(O,E(p),G(n),x,"",{"st\
roke-width":2}),m.arrow(O,E(p),G(r),b,"step")}for(let O of a>=3&&g?[p,g]:[p]){let[N,j]=E(O);m.taken.push(we(N,j,9))}m.write(c,d)}function Zo(o,[
t,s],e,r){let n=o.group("diff"),i=T().truth;o.arrow(n,[t,s],e,S("vi"),"",{"stroke-dasharray":"4 5"});let a=e.map((c,d)=>r[d]-c);o.arrow(n,[t+
e[0],s+e[1]],a,i);let[h,l]=[t+(e[0]+r[0])/2-20,s+(e[1]+r[1])/2-12];o.labels.push({into:n,x:h,y:l,text:"g′ − g",color:i})}var Tt=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step."],["g","g: which way the loss \
that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as the mean could go, were the who\
le radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two widths."],["worst","Ascend by Δ\
 to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the widths took, the mean did not get."],
["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells SA-BMA from VI. It points where t\
he slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend against g′ and the pull of the prior\
. The arrow is drawn at its true length; the thin blue one is the step of VI."]],tr="F: the Fisher matrix of q itself. For a mean it is 1/wi\
dth², for the logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients.",sr=["min over ",[
"q","q"]," of max over ",["worst","q′"]," in ",["ball","KL(q′ ‖ q) ≤ radius²/2"]," of E",["","q′"],"[L] + T ",["move","KL(q ‖ pri\
or)"],"",["worst","Δ"]," = ",["ball","radius"]," · F⁻¹",["g","g"]," / √(",["g","g"],"ᵀF⁻¹",["g","g"],")","",["worst","q′"]," =\
 ",["q","q"]," + ",["worst","Δ"],",  ",["there","g′"]," = ",["g","g"]," + ",["diff","(g′ − g)"],"",["q","q"]," ← ",["q","q"]," − ",
["move","rate · F⁻¹(g′ + T ∇KL)"]];function xe(){let o=sr.map(e=>{if(typeof e=="string")return e||w("br");let[r,n]=e;return r?w("spa\
n",{"data-s":r,tabindex:0,role:"button"},n):w("sub",{},n)});return w("p",{class:"pg-formula",role:"group","aria-label":"objective and step; \
point at a symbol to see its mark"},...o,w("small",{},tr))}var ts=1.4,Es=41,Os=14;function ve({loss:o,noise:t,record:s,slope:e},r,n,i,a){let{ink:h,soft:l}=T(),{from:c,delta:d,g:p,worst:f}=s;if(k(r,"l\
oss along the ascent from q (0) to q′ (1)",2,10,{color:l,size:12.5,halo:!1}),!d||!f){let N={align:"center",halo:!1};k(r,"radius 0: no asce\
nt",n/2,i/2,N);return}let u=Array.from({length:Es},(N,j)=>j/(Es-1)*ts),m=u.map(N=>{let j=F(c.mean,d.mean,N),Z=F(c.logStd,d.logStd,N);return at(
o,{mean:j,logStd:Z},t).value}),b=u.map(N=>p.value+N*e),x=Math.min(...m,...b),y=Math.max(...m,...b),v=N=>8+(n-70)*N/ts,M=N=>i-22-(i-52)*(N-x)/
Math.max(y-x,1e-9),C=(N,j,Z)=>{r.beginPath(),N.forEach((po,fo)=>r.lineTo(v(u[fo]),M(po))),r.strokeStyle=j,r.lineWidth=2.2,r.setLineDash(Z),r.
stroke(),r.setLineDash([])};C(b,S("vi"),[4,5]),C(m,h,[]);let[W,E]=[b,m].map(N=>M(N[Es-1])),G=W+(E<W?-1:1)*(Os+1);k(r,"slope g",v(ts)+6,W,{color:S(
"vi"),size:12.5});let Q=Math.abs(E-W)<Os?G:E;k(r,"loss",v(ts)+6,Q,{size:12.5});let O=(N,j,Z)=>{Y(r,"circle",v(N),M(j),5,Z),k(r,A(j),v(N)+4,M(
j)+Os,{size:12.5,color:Z})};O(0,p.value,h),a&&O(1,f.value,S("sam"))}var er=4,pt=121,ye=14,Se=1.12;function ke(o,t){let{loss:s}=o,e=o.runs.get("sabma")?.learner??o.learner("sabma",o.seed),r=t??J(e.q),{prior:n}=e,
{radius:i,T:a,rate:h}=o.settings,l={...e.settings,radius:i,T:a,rate:h},c=o.noise.slice(0,er),d=Ut(s,r,Pt(2),n,c,l),p=J(d.from);qt(s,p,Pt(2),
n,c,l);let{g:f,delta:g}=d,u=g?D(f.mean,g.mean)+D(f.logStd,g.logStd):0;return{loss:s,noise:c,settings:l,record:d,after:r,plain:p,slope:u}}var Ls=({
target:o},t="")=>o instanceof Element?o.closest(`${t}[data-s]`)?.getAttribute("data-s"):void 0,ss=class{phase=0;relief=null;constructor(t){this.
world=t,this.step=ke(t.model),this.ground=new B((r,n,i)=>this.drawGround(r,n,i),{ratio:.86,label:"",least:260,most:540}),this.svg=tt("svg",{
"aria-hidden":!0}),this.ground.node.append(this.svg),this.profile=new B((r,n,i)=>ve(this.step,r,n,i,this.phase>=3),{ratio:.5,label:"",least:180,
most:260}),this.text=w("p",{class:"pg-verdict",role:"status"});let s=Tt.map((r,n)=>n),e=r=>`${r+1} of ${Tt.length}`;this.slider=new st("phas\
e",s,0,r=>this.go(r),{say:e}),this.budget=w("div",{class:"pg-budget",role:"img"}),this.node=this.build(),this.listen(),this.go(0)}build(){let t=P(
"Next","the next phase",()=>this.next(),{class:"pg-play"}),s=P("Back","the phase before",()=>this.go(Math.max(0,this.phase-1))),e=w("div",{},
xe(),this.budget);return w("section",{class:"pg-step","aria-label":"one step of SA-BMA"},this.ground.node,w("div",{class:"pg-row"},t,s,this.
slider.node),this.text,w("div",{class:"pg-below"},e,this.profile.node))}listen(){let{node:t}=this;this.world.still.push(()=>this.take()),t.addEventListener(
"pointerover",s=>this.light(Ls(s))),t.addEventListener("pointerleave",()=>this.light()),t.addEventListener("focusin",s=>this.light(Ls(s))),t.
addEventListener("click",s=>{let e=Ls(s,".pg-formula ");e&&(this.reveal(e),this.light(e))})}take(t){this.step=ke(this.world.model,t),this.relief=
null,this.go(t?0:this.phase)}next(){this.phase<Tt.length-1?this.go(this.phase+1):this.take(this.step.after)}go(t){this.phase=t,this.slider.value=
t,this.text.textContent=`${t+1}. ${Tt[t][1]}`,this.recolor()}recolor(){this.ground.draw(),this.profile.draw(),this.tellBudget();let{record:t,
slope:s}=this.step,{g:e,worst:r}=t,n=A(e.value+s),i=r?`: ${A(e.value)} at q, ${A(r.value)} at q′, ${n} by the straight line of slope g`:";\
 there is none at radius 0";this.profile.say(`The loss along the ascent from q${i}.`);let a=r?`, that q′ expects ${A(r.value)}.`:"; the ra\
dius is 0, so that there is no q′.",h=`One step of SA-BMA on the ground. ${this.text.textContent}`;this.ground.say(`${h} Loss that q expec\
ts ${A(e.value)}${a}`)}reveal(t){let s=Tt.findIndex(([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);
for(let s of this.node.querySelectorAll("[data-s]"))s.classList.toggle("pg-lit",s.getAttribute("data-s")===t)}tellBudget(){let{record:t,settings:s}=this.
step,{share:e}=t,r=this.phase<3||e===void 0;if(this.budget.hidden=r,r)return;let n=c=>`${Math.round(100*c)} %`,i=`${n(e)} of radius² went in\
to the means, ${n(1-e)} into the widths: the mean of q′ lies at √${e.toFixed(2)} = ${n(Math.sqrt(e))} of the way to the edge.`;this.budget.
setAttribute("aria-label",i);let a={style:`width:${100*e}%`},h={style:`width:${100*(1-e)}%`},l=w("div",{class:"pg-bar"},w("i",a,e>.25?"means":
""),w("b",h,e<.75?"widths":""));this.budget.replaceChildren(l,w("p",{},`Radius ${s.radius}. `,i))}view(t,s){let{record:e,settings:r}=this.step,
{from:n,there:i}=e,a=Math.max(2.1,r.radius+.3),[h,l]=[0,1].map(d=>{let p=a*Math.exp(n.logStd[d]);if(!i)return p*Se;let f=Math.abs(i.mean[d]-
n.mean[d])+2.1*Math.exp(i.logStd[d]);return Math.max(p,f)*Se}),c=Math.min(t/2/h,s/2/l);return{width:t,height:s,unit:c,X:d=>t/2+(d-n.mean[0])*
c,Y:d=>s/2-(d-n.mean[1])*c}}reliefFor({width:t,height:s,unit:e}){let r=[t,s,e].join();if(this.relief?.key===r)return this.relief;let{loss:n,
record:i}=this.step,[a,h]=i.from.mean,l=Math.round((pt-1)*s/t)+1,c=Float64Array.from({length:pt*l},(f,g)=>{let[u,m]=[Math.floor(g/pt),g%pt],
b=(m/(pt-1)-.5)*t/e,x=(u/(l-1)-.5)*s/e;return n.both([a+b,h-x],null)}),d=Math.min(...c),p=Math.max(1e-9,Math.max(...c)-d);return this.relief=
{key:r,rows:l,share:c.map(f=>(f-d)/p)},this.relief}drawGround(t,s,e){let r=this.view(s,e),{share:n,rows:i}=this.reliefFor(r);t.drawImage(St(
n,i,pt),0,0,s,e),t.strokeStyle=H()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let a=1;a<ye;a++){let h=ct(n,i,pt,a/ye);dt(
t,h,i,pt,s,e)}be(this.svg,this.step,r,this.phase)}};var $=[-3,3],U=[-2,2],es=3,At={hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,
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
about:"Press on the ground to push it down or up, then play."}},Me=81,Te=121;function Ae(o){let t=Gt(o),s=1/0;for(let e=0;e<Me;e++)for(let r=0;r<
Te;r++){let n=$[0]+($[1]-$[0])*r/(Te-1),i=U[0]+(U[1]-U[0])*e/(Me-1);s=Math.min(s,t.both([n,i],null))}return{dim:2,both:(e,r)=>t.both(e,r)-s}}var $t=[.01,.02,.05,.1,.2,.3,.5,1],Is=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],Ee=2*Math.PI,or=12,rr=6;function R(o,{method:t,q:s,members:e}){return z[t]?
Xt(o,s):e.reduce((r,n)=>r+o.both(n,null),0)/e.length}var Oe=(o,t,s={})=>({method:o,q:J(t.q),members:t.members(40,[]),lost:!t.finite,...s});function Ns(o,t){
let s=!1,e=()=>{let r=performance.now()+or;for(;!s&&o.length&&performance.now()<r;)o.shift()?.();s||(o.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var os=class{constructor(t,s,{T:e,radius:r},n){this.loss=t,this.vi=[],this.sabma=[],this.ghost=null;let i=(h,l)=>()=>{let c=s(
h===this.vi?"vi":"sabma",l);c.lost||h.push({...c,...l,train:R(t,c)})},a=[...$t.map(h=>i(this.vi,{T:h,radius:0})),...Is.map(h=>i(this.sabma,{
T:e,radius:h}))];this.stop=Ns(a,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===r),s),n()})}find(t,s){if(!t)return null;let e=a=>a.train-
t.train,r=this.vi.findIndex((a,h)=>h&&e(a)*e(this.vi[h-1])<=0);if(r<1)return null;let[n,i]=[this.vi[r-1],this.vi[r]];for(let a=0;a<rr;a++){let h=Math.
sqrt(n.T*i.T),l=s("vi",{T:h,radius:0}),c={...l,T:h,radius:0,train:R(this.loss,l)};e(c)*e(n)<=0?i=c:n=c}return Math.abs(e(i))<Math.abs(e(n))?
i:n}draw(t,s,e,r,{T:n,radius:i}){k(t,"training loss → against test loss ↑, each after a whole run",2,10,{color:T().soft,size:12.5,halo:!1});
let h=m=>R(r,m),l=[...this.vi,...this.sabma];if(!l.length)return;let c=$e(l.map(({train:m})=>m)),d=$e(l.map(h)),p=m=>44+(s-70)*(m-c[0])/(c[1]-
c[0]),f=m=>e-24-(e-58)*(m-d[0])/(d[1]-d[0]),g=m=>({x:p(m.train),y:f(h(m))});nr(t,s,e,{X:p,Y:f,across:c,up:d});let u=[["vi",this.vi,m=>m.T===
n,"T"],["sabma",this.sabma,m=>m.radius===i,"radius"]];for(let[m,b,x,y]of u){ir(t,m,b.map(g),b.filter(x).map(g));let v=b[b.length-1];if(!v)continue;
let{x:M,y:C}=g(v),W=M>s/2?"right":"left",E=`${I(m)}, larger ${y}`,G=C+(C>e/2?14:-12),Q={color:S(m),size:12,align:W};k(t,E,Math.min(M+8,s-4),
G,Q)}this.ghost&&ar(t,g(this.ghost),this.ghost.T)}};function $e(o){let t=Math.min(...o),s=Math.max(...o),e=Math.max(.08*(s-t),.02);return[t-
e,s+e]}function nr(o,t,s,{X:e,Y:r,across:n,up:i}){let a=T();o.strokeStyle=a.line,o.beginPath(),o.moveTo(44,30),o.lineTo(44,s-20),o.lineTo(t-
4,s-20),o.stroke();let h={color:a.soft,size:12},[l,c]=n;k(o,A(l),e(l),s-9,h),k(o,A(c),e(c),s-9,{...h,align:"right"});for(let d of i)k(o,A(d),
40,r(d),{...h,align:"right"})}function ir(o,t,s,e){let r=S(t);o.strokeStyle=r,o.fillStyle=r,o.lineWidth=1.6,o.beginPath();for(let{x:n,y:i}of s)
o.lineTo(n,i);o.stroke();for(let{x:n,y:i}of s)o.beginPath(),o.arc(n,i,2.6,0,Ee),o.fill();for(let{x:n,y:i}of e)Y(o,lt(t),n,i,6,r)}function ar(o,{
x:t,y:s},e){let r=S("vi");o.strokeStyle=r,o.setLineDash([2,3]),o.lineWidth=2,o.beginPath(),o.arc(t,s,10,0,Ee),o.stroke(),o.setLineDash([]),k(
o,`T* = ${A(e)}`,t+14,s+4,{color:r,size:12})}function Le(o,t,s,e){let r=T(),n=e.flatMap(({values:p})=>p).filter(Number.isFinite),i=Math.min(
...n),a=Math.max(...n,i+.05),h=Math.max(12,Math.round(t/22)),l=p=>4+p*(t-8)/h,c=(s-44)/e.length,d=(t-8)/h-2;k(o,`test loss of ${e[0].values.
length} seeds, a block each`,2,10,{color:r.soft,size:12.5,halo:!1}),e.forEach(({method:p,values:f,where:g},u)=>{let m=new Array(h).fill(0),b=26+
(u+1)*c;f.filter(Number.isFinite).forEach(y=>{m[Math.min(h-1,Math.floor((y-i)/(a-i)*h))]+=1});let x=Math.min(9,(c-18)/Math.max(...m,1));o.fillStyle=
S(p),m.forEach((y,v)=>{for(let M=0;M<y;M++)o.fillRect(l(v),b-(M+1)*x,d,x-1)}),k(o,`${I(p)}: ${g}`,t-4,b-c+10,{color:S(p),size:12,align:"righ\
t"}),o.fillStyle=r.line,o.fillRect(4,b,t-8,1)}),[i,a].forEach((p,f)=>k(o,A(p),f?t-4:4,s-8,{color:r.soft,size:12,align:f?"right":"left"}))}var rs=class{x=[];stands=[];train=[];test=[];lambda=[];kl=[];lost=!1;constructor(t,s){this.method=t,this.learner=s,this.trail=[[...s.q.mean]]}step(){
this.learner.step(),this.lost=!this.learner.finite,this.lost||this.trail.push([...this.learner.q.mean])}measure(t,s,e,r){let{method:n,learner:i}=this,
{q:a,prior:h,kept:l}=i,d=ht[n]&&l.length?l.slice(-r):[a.mean.slice()],p={q:J(a),members:d};this.x.push(t),this.stands.push(p),this.train.push(
R(s,{method:n,...p})),this.test.push(R(e,{method:n,...p})),this.lambda.push(Ft(s,a.mean,1)[0].value),this.kl.push(z[n]?Nt(a,h).value:NaN)}};var K=600,Ie=6,wt=20,Ps=.3,Ne=["radius","rho","T","viT","rate","draws"],ns=class{name="hollow";world=At.hollow;terms=[];settings={};start=[];giveUp=()=>{};loss=Gt(
[]);test=this.loss;seed=1;ensemble=10;steps=0;on=new Set(["vi","sabma"]);shadows=[];ends=[];shift=[Ps,0];bend=0;tally="";sweep=null;runs=new Map;constructor(t=()=>{}){
this.changed=t;let s=new X(99);this.noise=Array.from({length:30},()=>s.normals(2)),this.choose("hollow")}choose(t){this.name=t,this.world=At[t],
this.terms=this.world.terms.map(i=>({...i}));let{radius:s,rho:e,T:r,rate:n}=this.world;this.settings={radius:s,rho:e,T:r,viT:r,rate:n,draws:4},
this.start=[...this.world.start],this.shadows=[],this.reground(),this.rest(!1)}reground(){this.loss=Ae(this.terms),this.retest()}retest(){this.
test=Gs(this.loss,this.shift,this.bend)}get far(){return Math.hypot(...this.shift)}along(t){return this.far?this.shift.map(s=>s/this.far*t):
[t,0]}moveTest(t,s=this.bend){this.shift=t.map(e=>Math.max(-1,Math.min(1,e))),this.bend=s,this.retest();for(let[e,r]of this.runs)r.test=r.stands.
map(n=>R(this.test,{method:e,...n}))}learner(t,s,e={}){let{radius:r,rho:n,T:i,viT:a,rate:h,draws:l}={...this.settings,...e},p={T:t==="vi"?e.
T??a:i,rate:h,momentum:0,draws:l,radius:t==="sam"?n:r},f=Math.log(this.world.std),g=Math.log(es),u={mean:Float64Array.of(0,0),logStd:Float64Array.
of(g,g)},m={mean:Float64Array.from(this.start),logStd:Float64Array.of(f,f)};return new yt(t,this.loss,u,m,p,s)}rest(t=!0){if(t&&this.steps>60)
for(let[s,e]of this.runs)this.shadow(s,e);this.steps=0,this.giveUp(),this.sweep?.stop(),this.sweep=null,this.ends=[],this.tally="",this.runs=
new Map;for(let s of mt)this.on.has(s)&&this.runs.set(s,new rs(s,this.learner(s,this.seed)));this.measure()}shadow(t,s){this.shadows.push([t,
s.trail]),this.shadows.length>80&&this.shadows.shift()}advance(t){for(let s=0;s<t&&this.steps<K;s++){this.steps+=1;for(let[e,r]of this.runs)
r.lost||e==="hmc"&&this.steps%Ie||r.step();this.steps%4===0&&this.measure()}}get over(){return this.steps>=K}measure(){for(let t of this.runs.
values())t.lost||t.measure(this.steps,this.loss,this.test,this.ensemble)}whole(t,s,e={}){let r=this.learner(t,s,e),n=t==="hmc"?K/Ie:K;for(let i=0;i<
n&&r.finite;i++)r.step();return Oe(t,r)}many(t,s,e=[{}]){this.giveUp(),this.shadows=[],this.ends=[],this.tally=`${wt} seeds run …`;let r=[],
n=e.flatMap(i=>t.flatMap(a=>Array.from({length:wt},(h,l)=>()=>{r.push({...this.whole(a,l+1,i),...i})})));this.giveUp=Ns(n,()=>{this.ends=r,this.
tally=s(r),this.changed()})}compareT(){if(this.sweep||!this.on.has("vi")||!this.on.has("sabma"))return;let{viT:t,radius:s}=this.settings,e=(r,n)=>this.
whole(r,this.seed,r==="vi"?n:{radius:n.radius});this.sweep=new os(this.loss,e,{T:t,radius:s},this.changed)}placeOf(t){let{places:s}=this.world;
return s.find(([,[e,r],n])=>Math.hypot(t[0]-e,t[1]-r)<n)?.[0]}whereIs(t){let s=this.placeOf(t),e=Float64Array.from(t),r=new Float64Array(2);
if(s?.endsWith("ridge"))return`on the ${s}`;for(let i=0;i<80;i++)this.loss.both(e,r.fill(0)),e[0]-=.05*r[0],e[1]-=.05*r[1];let n=this.placeOf(
e);return n?`in the ${n===s?"":"basin of the "}${n}`:""}counted(t){let s=new Map;for(let e of t){let r=e.lost?"diverged":this.placeOf(e.q.mean)??
"elsewhere";s.set(r,(s.get(r)??0)+1)}return[...s].sort((e,r)=>r[1]-e[1])}lossAt(t,s){let e=this.ends.filter(n=>n.method===s&&!n.lost);if(e.length)
return e.reduce((n,i)=>n+R(t,i),0)/e.length;let r=this.runs.get(s);return!r||r.lost?NaN:R(t,{method:s,...r.stands[r.stands.length-1]})}ranking(t){
return[...this.runs.keys()].map(s=>({method:s,loss:this.lossAt(t,s)})).filter(({loss:s})=>Number.isFinite(s)).sort((s,e)=>s.loss-e.loss)}get query(){
let{name:t,on:s,seed:e,shift:r,bend:n,settings:i}=this,a=Object.fromEntries(Ne.map(h=>[h,String(i[h])]));return new URLSearchParams({ground:String(
t),on:[...s].join(),...a,seed:String(e),shift:r.map(h=>Number(h.toFixed(2))).join(),bend:String(n)})}read(t,s){let e=h=>t.has(h)?Number(t.get(
h)):NaN,r=t.get("ground")??"";Object.hasOwn(At,r)&&this.choose(r);let n=(t.get("on")??"").split(",").filter(h=>mt.includes(h));n.length&&(this.
on=new Set(n));for(let h of Ne)s[h].includes(e(h))&&(this.settings[h]=e(h));Number.isInteger(e("seed"))&&(this.seed=e("seed"));let i=(t.get(
"shift")??"").split(",").map(Number),a=t.has("shift")&&i.length===2&&i.every(Number.isFinite);this.moveTest(a?i:this.shift,s.bend.includes(e(
"bend"))?e("bend"):0),this.rest(!1)}};var Et=.4,Ot=.02,qs=(o,t)=>t.loss-o.loss<Ot?`${I(o.method)} and ${I(t.method)} are even`:`${I(o.method)} wins by ${(t.loss-o.loss).toFixed(2)}`;
function is(o){let[t,s]=o.ranking(o.test);if(!t)return"";if(!s)return`Test loss of ${I(t.method)}: ${t.loss.toFixed(2)}.`;let[e,r]=o.ranking(
o.loss);return o.far+o.bend?`${o.over||o.ends.length?"On":"So far, on"} the test ground ${qs(t,s)}; not shifted, ${qs(e,r)}.`:`Not shifted, ${qs(
t,s)}.`}function hr(o){let t=o.sweep?.ghost,{viT:s,radius:e}=o.settings,r=o.sweep?.sabma.find(a=>a.radius===e);if(!t||!r)return"";let n=R(o.
test,t)-R(o.test,r),i=`${Math.abs(n).toFixed(2)} ${n>0?"higher":"lower"}`;return`At T* = ${A(t.T)} instead of ${s}, VI has SA-BMA's training\
 loss, and its test loss is ${Math.abs(n)<Ot?"the same":i}.`}function Pe(o){if(!o.steps)return"Not trained yet.";let t=[...o.runs].filter(([
,{lost:r}])=>!r).map(([r,{learner:n}])=>({name:I(r),where:o.whereIs(n.q.mean),cost:Ks(o.loss,n.q.mean,Et)-o.loss.both(n.q.mean,null)})),s=t.
map(({name:r,cost:n})=>`${r} ${n.toFixed(2)}`).join(", "),e=[t.map(({name:r,where:n})=>n&&`${r} is ${n}`).filter(Boolean).join(", ")+".",is(
o),`Moving the mean by ${Et} the worst way raises the loss by: ${s}.`,o.over?hr(o):""];for(let[r,{lost:n}]of o.runs)n&&e.push(`${I(r)} diver\
ged: lower the learning rate or the radius.`);return e.filter(r=>r&&r!==".").join(" ")}var Fs=(o,t)=>o.counted(t).map(([s,e])=>`${e} ${s}`).
join(", ");function qe(o){let t=e=>`${I(e)}: ${Fs(o,o.ends.filter(r=>r.method===e))}`,s=[...o.on].map(t).join("; ");return`${wt} seeds of ${K}\
 steps. ${s}. ${is(o)}`}var Fe=25,Re=240,Ce=17,De=[-1.2816,-.5244,0,.5244,1.2816],ze=De.flatMap(o=>De.map(t=>Float64Array.of(o,t)));function lr({loss:o},t,{q:s,prior:e,
settings:r},n){let i=$[1]-$[0];return Array.from({length:Fe},(a,h)=>{let l=$[0]+i*h/(Fe-1),c={mean:Float64Array.of(l,n),logStd:s.logStd};if(!z[t]){
let g=t==="sam"?r.radius:0,u={...r,rate:1,radius:g};return[l,-Vt(o,c.mean.slice(),new Float64Array(2),e,u).there[0]]}let d=at(o,c,ze),f=t===
"sabma"&&r.radius?at(o,us(c,d,r.radius).there,ze):d;return[l,-f.mean[0]-r.T*Nt(c,e).mean[0]]})}function Be(o,t,s,e){let r=o.runs.get("sabma")??
o.runs.values().next().value;if(!r)return;let n=r.learner.q.mean[1],i=[...o.runs].filter(([d])=>!ht[d]),a=e-Ce*i.length-8,h=1.4*o.world.top,
l={X:d=>(d-$[0])/($[1]-$[0])*s,Y:d=>a-(a-40)*Math.min(1,(d+.07*h)/h),at:d=>o.loss.both([d,n],null)};cr(t,l,a);let c=T().soft;k(t,"loss along\
 w₁, cut through the mean",2,10,{color:c,halo:!1}),k(t,"arrows: where a step moves the mean",2,26,{color:c});for(let[d,{learner:p}]of o.runs)
dr(t,l,d,p.q,Xt(o.loss,p.q));i.forEach(([d,{learner:p}],f)=>{t.fillStyle=S(d);let g=lr(o,d,p,n);pr(t,g,l.X,a+14+Ce*f)})}function cr(o,{X:t,Y:s,
at:e},r){let n=T();o.beginPath(),o.moveTo(t($[0]),r);for(let i=0;i<=Re;i++){let a=$[0]+($[1]-$[0])*i/Re;o.lineTo(t(a),s(e(a)))}o.lineTo(t($[1]),
r),o.fillStyle=`rgb(${n.high.join()})`,o.globalAlpha=.75,o.fill(),o.globalAlpha=1,o.lineWidth=1.5,o.strokeStyle=n.soft,o.stroke()}function dr(o,{
X:t,Y:s,at:e},r,{mean:n,logStd:i},a){let h=S(r),[l]=n,c=s(e(l));if(z[r]){let d=2*Math.exp(i[0]),p=s(a);o.strokeStyle=h,o.lineWidth=3,o.beginPath(),
o.moveTo(t(l-d),p),o.lineTo(t(l+d),p),o.stroke(),o.lineWidth=1.3,o.beginPath(),o.moveTo(t(l),p),o.lineTo(t(l),c),o.stroke()}Y(o,lt(r),t(l),c,
4.5,h)}function pr(o,t,s,e){for(let[r,n]of t){let i=4*Math.tanh(Math.abs(n)*4)+1,a=Math.sign(n)*i;o.beginPath(),o.moveTo(s(r)+a,e),o.lineTo(
s(r)-a,e-i),o.lineTo(s(r)-a,e+i),o.fill()}}function We(o,t,s,e){let r=[["loss: training thin, test thick","test",.46],["λ₁, sharpest curvatu\
re at the mean","lambda",.27],["KL(q ‖ prior), in nats","kl",.27]],n=0;for(let[i,a,h]of r){let c=[...o.runs].flatMap(([d,p])=>{let f={color:S(
d),x:p.x,y:p[a]};return a==="test"?[{...f,y:p.train,thin:!0},f]:[f]}).filter(d=>d.y.some(Number.isFinite));Jt(t,0,n,s,h*e-6,i,c,{most:K}),n+=
h*e}}function je(o,t,s,e){if(o.ends.length){let n=[...new Set(o.ends.map(i=>i.method))].map(i=>{let a=o.ends.filter(l=>l.method===i),h=a.map(
l=>l.lost?NaN:R(o.test,l));return{method:i,where:Fs(o,a),values:h}});Le(t,s,e,n)}else if(o.sweep){let{viT:r,radius:n}=o.settings;o.sweep.draw(
t,s,e,o.test,{T:r,radius:n})}else k(t,"after a run: temperature beside radius",2,10,{color:T().soft,halo:!1})}var fr=.3,ft=1,bt=32,Rs=.5,gr=Object.freeze({vi:"VI",sabma:"SA-BMA"}),_e=[["yes","Yes"],["no","No"]];function Ge(o){let[t,s]=o.ranking(o.test),
e=s.loss-t.loss<Ot;return{first:t,second:s,winner:e?"even":t.method}}function He(o){return{...$t.map(e=>({T:e,loss:R(o.test,o.whole("vi",o.seed,
{T:e}))})).reduce((e,r)=>r.loss<e.loss?r:e),rival:R(o.test,o.whole("sabma",o.seed))}}var as=(o,t,s,e="")=>t.filter(r=>r.draws===s&&o.placeOf(
r.q.mean)===e).length;function Ye(o,t){let s=[ft,bt].map(r=>as(o,t,r,"narrow hollow")),e=[ft,bt].map(r=>as(o,t,r,"wide meadow"));return`Radi\
us ${Rs}: with ${ft} draw a step (filled) ${e[0]} of ${wt} runs end in the meadow and ${s[0]} in the hollow; with ${bt} (rings) ${e[1]} and ${s[1]}\
. `}var Lt=[{key:"shift",title:"Shift",view:"grounds",ask:"Variational inference (VI) lowers the average loss of a cloud of weights, SA-BMA \
that of the worst cloud within the radius. Both train on one ground, are tested on another, moved by 0.3. Which has the lower test loss?",guesses:[
...Object.entries(gr),["even","Equal"]],set:{},then:{},truth:o=>Ge(o).winner,answer(o){let{first:t,second:s,winner:e}=Ge(o),r=[...o.runs].map(
([a,{learner:h}])=>`${I(a)} is ${o.whereIs(h.q.mean)}`),n=`${t.loss.toFixed(2)} to ${s.loss.toFixed(2)}`;return`${e==="even"?"They are even":
`${I(t.method)} wins`}: ${n}. ${r.join(", ")}. Try a shift of 0.`}},{key:"temperature",title:"Temperature",view:"grounds",ask:"A wide prior \
keeps a cloud from shrinking, and the temperature T weighs it: the larger T, the wider VI's cloud. Up to now both had T = 0.1. Is there a T \
at which VI has SA-BMA's test loss?",guesses:_e,set:{},then:{viT:fr},truth:o=>{let{loss:t,rival:s}=He(o);return t-s<Ot?"yes":"no"},answer(o){
let{T:t,loss:s,rival:e}=He(o),r=o.runs.get("vi"),n=r?o.whereIs(r.learner.q.mean):"",i=s-e<Ot?"as low as":"above";return`At T = ${o.settings.
viT} VI is ${n} too. Its lowest test loss over the slider, ${s.toFixed(2)} at T = ${t}, is ${i} SA-BMA's ${e.toFixed(2)}. But this ground wa\
s made so that the difference is plain.`}},{key:"network",title:"A trained network",view:"frontier",ask:"A network trained on rotated digits\
 adapts to two upright ones a class; means over 40 seeds. At the same temperature SA-BMA (radius 1) is flatter than VI. Is there a T at whic\
h VI has both its training loss and its curvature λ₁?",guesses:_e,set:{},then:{},truth:()=>"yes",answer:()=>"Nearly: the line of VI along\
 its temperature (blue) almost covers that of SA-BMA along its radius (green). At equal training loss λ₁ is 0.96 of VI's and the NLL 0.007 l\
ower. Most of what the radius does here, a lower temperature does."},{key:"draws",title:"Draws",view:"grounds",ask:`A step averages gradient\
s over S draws from the cloud. The ascent to the worst cloud follows their noise as well. At radius ${Rs}: with which S does SA-BMA stay out\
 of the hollow more often?`,guesses:[["one",`S = ${ft}`],["many",`S = ${bt}`],["even","As often"]],on:["sabma"],set:{radius:Rs,draws:ft},then:{},
seeds:[{draws:ft},{draws:bt}],tell:Ye,counts:o=>[ft,bt].map(t=>({name:`S = ${t}`,value:o.ends.length?`${as(o,o.ends,t,"wide meadow")} of ${wt}`:
"–"})),truth:o=>{let[t,s]=[ft,bt].map(e=>as(o,o.ends,e,"narrow hollow"));return t<s?"one":t>s?"many":"even"},answer:o=>Ye(o,o.ends)+"Few d\
raws widen the cloud as a higher temperature does; with many, SA-BMA falls into the hollow as VI does. On the trained network few draws do t\
he reverse: with 1, 8, 128 a step the radius is worth VI's T = 0.0137, 0.0211, 0.0237, from 0.03."}],Ue=(o,t)=>o.view==="frontier"||(o.seeds?
t.ends.length>0:t.steps>=K);var gt={seeds:40,T:.03,vi:[[.006,.013308,1.0158,.58418,.042675,.076063,.01291,.0077517],[.01,.022048,1.3511,.56598,.035909,.061803,.0087214,
.0065766],[.015,.032973,1.6514,.5554,.03367,.047402,.0054091,.0045322],[.02,.043971,1.8783,.55011,.036256,.030927,.0030981,.0029507],[.03,.065808,
2.1927,.54699,.04311,0,0,0],[.05,.10942,2.5763,.55254,.062964,.062848,.0039081,.0036917],[.075,.16348,2.8693,.56774,.088486,.11056,.006941,.0051976],
[.1,.21667,3.0677,.58631,.11308,.14151,.00908,.0064426]],sabma:[[0,.065808,2.1927,.54699,.04311,0,0,0],[.5,.055361,2.0196,.54416,.03901,.020374,
89114e-8,.0019212],[1,.046795,1.8443,.54244,.036838,.037138,.001756,.0029713],[2,.034217,1.5546,.54231,.033359,.061681,.0035037,.0046419]]};var mr=[{title:"curvature λ₁",at:2,ticks:[1,1.5,2,2.5,3]},{title:"NLL on test digits",at:3,ticks:[.54,.55,.56,.57,.58]},{title:"ECE on te\
st digits",at:4,ticks:[.04,.06,.08,.1]}],ur=[.02,.05,.1,.2],wr=2*Math.PI,br=3,Ve=4,Je={T:gt.vi.map(([o])=>o),radius:gt.sabma.map(([o])=>o)},
It=(o,t)=>gt[o].find(([s])=>s===t)??gt[o][0],Xe=(o,t=!1)=>{let s=i=>t?Math.log(i):i,e=Math.min(...o.map(s)),r=Math.max(...o.map(s)),n=.09*(r-
e);return i=>(s(i)-e+n)/(r-e+2*n)},hs=class{T=gt.T;radius=1;open=!1;constructor(){this.board=new B((t,s,e)=>this.draw(t,s,e),{ratio:.36,label:"",
least:276}),this.message=w("p",{class:"pg-message"}),this.node=w("div",{class:"pg-frontier"},this.message,this.board.node)}show(t){let{T:s=this.
T,radius:e=this.radius,open:r=this.open}=t;this.T=s,this.radius=e,this.open=r;let{T:n,seeds:i}=gt,a=this.open?"A lower temperature does most\
 of what the radius does.":"",h=`95 % bars: difference from VI, T = ${n}`;this.message.replaceChildren(w("b",{},a),` ${i} seeds; ${h}.`),this.
board.draw(),this.board.say(this.sentence())}sentence(){let t=([,,s,e])=>`λ₁ ${s.toFixed(2)}, NLL ${e.toFixed(3)}`;return`SA-BMA at radiu\
s ${this.radius}: ${t(It("sabma",this.radius))}. VI at T = ${this.T}: ${t(It("vi",this.T))}.`}draw(t,s,e){let r=mr.slice(0,s<520?1:s<800?2:3),
n=s/r.length;r.forEach((i,a)=>this.drawPanel(t,i,a*n,n,e))}drawPanel(t,s,e,r,n){let{vi:i,sabma:a}=gt,h=[...i,...a],l=E=>[-1,0,1].map(G=>E[s.
at]+G*E[s.at+br]),c=h.map(E=>E[1]),d=Xe(c,!0),p=Xe(h.flatMap(l)),f={from:e+40,to:e+r-14,top:38,bottom:n-42},g=E=>f.from+(f.to-f.from)*d(E),u=E=>f.
bottom-(f.bottom-f.top)*p(E);xr(t,s,f,g,u);let m=E=>{let[G,Q,O]=l(E).map(u);return{x:g(E[1]),y:Q,low:G,high:O}},b=new Mt(t,e+r,f.bottom,f.from);
this.open&&Ke(t,i.map(m),"vi",b),Ke(t,a.map(m),"sabma",b);let x=m(It("vi",this.T)),y=m(It("sabma",this.radius));Y(t,"square",x.x,x.y,7,S("vi")),
Y(t,"circle",y.x,y.y,7,S("sabma"));let v={weight:700,size:14},M=`SA-BMA, radius ${this.radius}`;b.put(M,y.x+12,y.y+20,{...v,color:S("sabma")});
let C={...v,color:S("vi"),align:"right"};if(b.put(`VI, T = ${this.T}`,x.x-10,x.y-20,C),!this.open)return;let W={color:S("vi"),align:"center"};
for(let E of[i[0],i[i.length-1]]){let G=m(E);E[0]!==this.T&&b.put(`T = ${E[0]}`,G.x,G.high-14,W)}}get numbers(){return[{method:"vi",row:It("\
vi",this.T)},{method:"sabma",row:It("sabma",this.radius)}].map(({method:t,row:s})=>({method:t,nll:A(s[3]),lambda:A(s[2])}))}};function xr(o,{
title:t,ticks:s},{from:e,to:r,top:n,bottom:i},a,h){let l=T();for(let d of s){let p=h(d);p<n||p>i||(o.lineWidth=1,o.strokeStyle=l.line,o.beginPath(),
o.moveTo(e,p),o.lineTo(r,p),o.stroke(),k(o,String(d),e-6,p,{color:l.soft,size:12,align:"right"}))}for(let d of ur){let p=a(d);p<e||k(o,String(
d),p,i+14,{color:l.soft,size:12,align:"center"})}k(o,t,e,14,{weight:600,size:14,halo:!1});let c={color:l.soft,size:12.5,align:"center"};k(o,
"training loss (nats)",(e+r)/2,i+31,c)}function Ke(o,t,s,e){let r=S(s);o.strokeStyle=r,o.fillStyle=r,o.lineWidth=s==="vi"?2:3.2,o.setLineDash(
s==="vi"?[7,5]:[]),o.beginPath();for(let{x:n,y:i}of t)o.lineTo(n,i);o.stroke(),o.setLineDash([]),o.lineWidth=1.5,t.forEach(({x:n,y:i,low:a,high:h},l)=>{
o.beginPath(),o.arc(n,i,3,0,wr),o.fill(),o.beginPath(),o.moveTo(n,a),o.lineTo(n,h);for(let d of[a,h])o.moveTo(n-Ve,d),o.lineTo(n+Ve,d),e.avoid(
n,d,5);o.stroke();let c=t[Math.max(0,l-1)];for(let d of[.25,.5,.75,1])e.avoid(c.x+d*(n-c.x),c.y+d*(i-c.y),4)})}var V=181,ot=121,Qe=14;function Bt(o,t){let s=o.getBoundingClientRect();return[$[0]+(t.clientX-s.left)/s.width*($[1]-$[0]),U[1]-(t.clientY-s.
top)/s.height*(U[1]-U[0])]}var ls=class{loss=null;top=1;relief=null;density=null;constructor(t){let s=(e,r,n)=>{let{loss:i}=this;if(!i)return;
let a=r/($[1]-$[0]),h=this.relief,l=h?.width===r&&h.height===n&&h.dark===H();this.relief=l?h:this.reliefFor(i,r,n),e.drawImage(this.relief.whole,
0,0,r,n),t(e,p=>(p-$[0])*a,p=>(U[1]-p)*a,a,n)};this.board=new B(s,{ratio:2/3,label:""})}lay(t,s){this.loss=t,this.top=s,this.relief=null,this.
density=null}reliefFor(t,s,e){let r=H(),[n,i,a]=r?[.45,.6,4]:[.22,.14,1.7],h=to(t),l=Math.min(...h),c=h.map(x=>{let y=(x-l)/this.top;return y<
1?.75*y:1-.25/y}),d=vr(c,ot,V,a),p=St(c,ot,V,(x,y)=>Math.max(-n,Math.min(i,d(x,y)))),{dense:f}=this.board,[g,u]=[s*f,e*f],m=w("canvas",{width:g,
height:u}),b=it(m);b.imageSmoothingQuality="high",b.drawImage(p,0,0,g,u),b.scale(g/(V-1),u/(ot-1)),b.strokeStyle=r?"rgba(190,225,235,.28)":"\
rgba(60,70,80,.2)";for(let x=1;x<=Qe;x++){b.lineWidth=(V-1)/s*(x%4?.8:1.4);let y=ct(c,ot,V,x/(Qe+1));dt(b,y,ot,V,V-1,ot-1)}return{whole:m,width:s,
height:e,dark:r}}drawMass(t,s,e,r,n){this.loss&&(this.density??=yr(this.loss,r,n),t.strokeStyle=T().truth,this.density.forEach((i,a)=>{t.lineWidth=
a?1.4:2.4,dt(t,i,ot,V,s,e)}))}};function vr(o,t,s,e){let r=(n,i)=>{let a=Math.max(0,Math.min(t-1,n)),h=Math.max(0,Math.min(s-1,i));return o[a*
s+h]};return(n,i)=>{let a=r(n,i+1)-r(n,i-1),h=r(n+1,i)-r(n-1,i);return e*(a+h)}}var Ze=o=>[$[0]+o%V/(V-1)*($[1]-$[0]),U[1]-Math.floor(o/V)/(ot-
1)*(U[1]-U[0])],to=o=>Float64Array.from({length:ot*V},(t,s)=>o.both(Ze(s),null));function yr(o,t,s){let e=to(o),r=Math.min(...e),n=e.map((h,l)=>{
let[c,d]=Ze(l);return Math.exp(-(h-r)/t-.5*(c*c+d*d)/s**2)}),i=Array.from(n).sort((h,l)=>l-h),a=i.reduce((h,l)=>h+l,0);return[.5,.95].map(h=>{
let l=0,c=i.find(d=>(l+=d)>=h*a)??0;return ct(n,ot,V,c)})}var Sr=44,so=.1,kr={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]},xt={width:.32,reach:.16,first:.1,more:.06,most:1.5},
eo=(o,[t,s])=>Math.max(t+so,Math.min(s-so,o)),oo=o=>t=>{let s=kr[t.key];s&&(t.preventDefault(),o(s))};function ro(o){let{canvas:t}=o.training.
board,{model:s}=o,e=!1,r=a=>{let[h,l]=Bt(t,a),c=o.training.board.width/($[1]-$[0]),d=[...s.runs.values()].map(p=>p.learner.q.mean);return[s.
start,...d].some(([p,f])=>Math.hypot(h-p,l-f)*c<Sr)},n=a=>{let h=Bt(t,a);o.tool==="start"?s.start=[eo(h[0],$),eo(h[1],U)]:(Mr(s,h,o.tool==="\
down"?1:-1),o.training.lay(s.loss,s.world.top),o.testing.lay(s.test,s.world.top)),s.rest(!1),o.shown()},i=a=>o.tool==="start"&&!r(a);t.addEventListener(
"touchstart",a=>{i(a.touches[0])||a.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",a=>{a.pointerType==="touch"&&i(a)||(e=!0,
t.setPointerCapture(a.pointerId),o.play(!1),n(a))}),t.addEventListener("pointermove",a=>{e&&n(a)});for(let a of["pointerup","pointercancel"])
t.addEventListener(a,()=>{e&&(e=!1,o.again(!1))})}function no(o){let{canvas:t}=o.testing.board,s=null;t.addEventListener("pointerdown",e=>{s=
Bt(t,e).map((r,n)=>r-o.model.shift[n]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermove",e=>{let r=s;r&&o.moveTest(Bt(t,e).
map((n,i)=>n-r[i]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}function Mr(o,[t,s],e){let n=o.terms.filter(
i=>i.kind==="dent").find(({at:i,width:a})=>a===xt.width&&Math.hypot(i[0]-t,i[1]-s)<xt.reach);n?n.depth=Math.max(-xt.most,Math.min(xt.most,n.
depth+xt.more*e)):o.terms.push({kind:"dent",at:[t,s],depth:xt.first*e,width:xt.width}),o.reground()}var Wt=2*Math.PI,cs=class{constructor(t,s,e,r,n){this.pen=t,this.X=s,this.Y=e,this.unit=r,this.width=r*($[1]-$[0]),this.height=n,this.labels=
new Mt(t,this.width,n)}title(t){this.labels.put(t,10,16,{weight:700,size:14})}outline({mean:t,logStd:s},e=[0]){let{pen:r,unit:n}=this,[i,a]=[
0,1].map(h=>2*Math.exp(s[h])*n);r.setLineDash(e.length>1?e:[]),r.beginPath(),r.ellipse(this.X(t[0]),this.Y(t[1]),i,a,0,0,Wt),r.stroke(),r.setLineDash(
[])}cloud(t){let{pen:s}=this;s.lineWidth=2,this.outline(t),s.globalAlpha=.16,s.fill(),s.globalAlpha=1}dot(t,s,e=2.4){this.pen.beginPath(),this.
pen.arc(this.X(t),this.Y(s),e,0,Wt),this.pen.fill()}line(t,s){let{pen:e,X:r,Y:n}=this;e.beginPath(),e.moveTo(r(t[0]),n(t[1])),e.lineTo(r(s[0]),
n(s[1])),e.stroke()}trail(t,s,e){let{pen:r,X:n,Y:i}=this;r.globalAlpha=e,r.strokeStyle=r.fillStyle=s,r.lineWidth=1.6,r.beginPath();for(let h of t)
r.lineTo(n(h[0]),i(h[1]));r.stroke();let a=t[t.length-1];r.globalAlpha=Math.min(1,2*e),this.dot(a[0],a[1],3),r.globalAlpha=1}ends(t){let{pen:s,
X:e,Y:r}=this;s.globalAlpha=.6;for(let{method:n,q:i,lost:a,draws:h}of t.ends){if(a)continue;let[l,c]=[e(i.mean[0]),r(i.mean[1])];h&&h>1?this.
ring(l,c,S(n)):Y(s,lt(n),l,c,4.5,S(n))}return s.globalAlpha=1,t.ends.length>0}ring(t,s,e){let{pen:r}=this;r.strokeStyle=e,r.lineWidth=2,r.beginPath(),
r.arc(t,s,5,0,Wt),r.stroke()}places(t,s=[0,0]){for(let[e,r,n]of t.world.places){let i=Math.min(this.height-14,this.Y(r[1]+s[1]-n)+6);this.labels.
put(e,this.X(r[0]+s[0]),i,{color:T().soft,align:"center"})}}means(t,s){let e=[...t.runs].filter(([,n])=>!n.lost),r=({learner:n})=>{let[i,a]=n.
q.mean;return[this.X(i),this.Y(a)]};for(let[,n]of e){let[i,a]=r(n);this.labels.avoid(i,a)}if(!(e.length>3))for(let[n,i]of e){let[a,h]=r(i),l={
color:S(n),weight:700,size:14};this.labels.put(s(n,i),a+12,h-17,l)}}run(t,s,{learner:e,trail:r}){let{pen:n}=this,i=S(s),{q:a,last:h}=e;ht[s]?
(this.trail(r.slice(-160),i,s==="hmc"?.08:.3),h&&"path"in h&&h.path&&this.trail(h.path,i,.4)):this.trail(r,i,.75),n.fillStyle=n.strokeStyle=
i,z[s]&&this.cloud(a);let l=h&&"delta"in h?h.there:null;if(l&&this.worst(a,l,i),h&&"e"in h&&h.e&&!t.over&&this.ascent(h.from,h.e,t.settings.
rho),z[s]||ht[s]){n.fillStyle=i,n.globalAlpha=.8;for(let c of e.members(t.ensemble,t.noise))this.dot(c[0],c[1]);n.globalAlpha=1}Y(n,lt(s),this.
X(a.mean[0]),this.Y(a.mean[1]),5.5,i)}worst(t,s,e){let{pen:r,X:n,Y:i,unit:a}=this;r.lineWidth=1.4,this.outline(s,[4,4]),this.line(t.mean,s.mean);
let h=i(s.mean[1])-2*Math.exp(s.logStd[1])*a-11,l=a<80?"worst q′":"q′, worst in the radius";this.labels.put(l,n(s.mean[0]),h,{color:e,size:12.5,
align:"center"})}ascent(t,s,e){let{pen:r,X:n,Y:i,unit:a}=this;r.lineWidth=1.5,r.setLineDash([4,4]),r.beginPath(),r.arc(n(t[0]),i(t[1]),e*a,0,
Wt),r.stroke(),r.setLineDash([]),this.line(t,[t[0]+s[0],t[1]+s[1]])}};function io(o,t,s){let{pen:e,labels:r,width:n,height:i,unit:a}=o,h=T();
s&&s.drawMass(e,n,i,t.settings.T,es);for(let[l,c]of t.shadows)o.trail(c,S(l),.22);if(o.title("training ground"),!o.ends(t)){for(let[l,c]of t.
runs)o.run(t,l,c);o.means(t,l=>I(l))}s&&r.put("true posterior: 50 % and 95 % of its mass",n-8,i-14,{color:h.truth,weight:600,align:"right"}),
o.places(t),e.strokeStyle=h.soft,e.lineWidth=2,e.beginPath(),e.moveTo(12,i-14),e.lineTo(12+Et*a,i-14),e.stroke(),r.put(`${Et}`,18+Et*a,i-14,
{color:h.soft,size:12.5})}function ao(o,t){let{pen:s,X:e,Y:r,labels:n,height:i}=o,a=T();if(o.title("test ground"),t.far>.05){let[h,l]=t.shift,
[c,d]=t.world.places[0]?.[1]??[0,0];s.strokeStyle=s.fillStyle=a.soft,s.lineWidth=2,s.beginPath(),s.moveTo(e(c),r(d)+26),s.lineTo(e(c+h),r(d+
l)+26),s.stroke(),s.beginPath(),s.arc(e(c+h),r(d+l)+26,3.5,0,Wt),s.fill();let p=t.bend?`, bent by ${t.bend}`:"",f=`moved by ${A(t.far)}${p}`;
n.put(f,10,i-14,{color:a.soft,size:12.5})}if(o.ends(t)){o.places(t,t.shift);return}for(let[h,l]of t.runs){if(l.lost)continue;let{q:c,members:d}=l.
stands[l.stands.length-1],p=S(h);if(s.fillStyle=s.strokeStyle=p,z[h])o.cloud(c);else for(let f of d)o.dot(f[0],f[1]);Y(s,lt(h),e(c.mean[0]),
r(c.mean[1]),5.5,p)}o.means(t,(h,l)=>l.test[l.test.length-1].toFixed(2)),o.places(t,t.shift)}var ds={shift:[0,.1,.2,.3,.4,.6,.8,1],bend:[0,.1,.2,.4],radius:Is,viT:$t,T:$t,rho:[0,.05,.1,.2,.3,.5,.8,1.2],rate:[.01,.02,.05,.1,.2],draws:[
1,2,4,8,16,32],ensemble:[1,2,5,10,20,30]},Tr={gd:"",sam:"SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",vi:"\
VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: sharpness-aware Bayesian model averaging, lowers the l\
oss of the worst q′ within the radius of q",sgld:"SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",hmc:"\
HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior"},ps=class{sliders={};constructor(t,s){this.world=t,
this.playButton=P("Play","play or pause",()=>t.play(!t.clock.playing),{class:"pg-play"}),this.chips=w("div",{class:"pg-chips",role:"group","\
aria-label":"methods"}),this.chips.append(...mt.map(r=>this.chip(r)));let e=Object.entries(At).map(([r,{label:n}])=>[r,n]);this.ground=new et(
"ground",e,"hollow",r=>t.choose(r)),this.tools=this.toggles("what the pointer does","tool",[["down","push down"],["up","push up"],["start","\
move q"]]),this.sides=this.toggles("which ground is shown","side",[["training","training ground"],["test","test ground"]]),this.score=w("div",
{class:"pg-score",role:"group","aria-label":"losses"}),this.verdict=w("p",{class:"pg-verdict",role:"status"}),this.about=w("p",{class:"pg-ab\
out"}),this.names=w("p",{class:"pg-about"}),this.truthButton=P("True posterior","the posterior, computed on a grid",()=>{t.truth=!t.truth,t.
shown(!0)}),this.maps=this.grounds(),this.first=this.firstSliders(),this.others=this.otherSliders(),this.found=this.foundSliders(),this.more=
this.folded(s),this.node=this.build()}grounds(){let{world:t}=this,{training:s,testing:e,model:r}=t,n=(h,l,c)=>w("div",{class:"pg-grip",tabindex:0,
role:"group","aria-label":l,onkeydown:oo(c)},h.node);return w("div",{class:"pg-maps","data-side":"training"},n(s.board,"the training ground;\
 arrow keys move the place where training starts",([h,l])=>t.moveStart(h,l)),n(e.board,"the test ground; arrow keys shift it",h=>t.moveTest(
r.shift.map((l,c)=>l+h[c]))))}firstSliders(){let{world:t}=this,{model:s}=t,e=r=>t.moveTest(s.along(r));return w("div",{class:"pg-first"},this.
keep("shift","shift of the test ground",e,A),this.slider("radius","radius of SA-BMA",r=>r?`${r} × the width of q`:"0: as VI","how far from \
q SA-BMA looks for the worst posterior, √(2 KL)"),this.slider("viT","temperature of VI",r=>`T = ${r}`,"the weight of KL(q ‖ prior)"))}otherSliders(){
let{world:t}=this,{model:s}=t,e=n=>t.average(n),r=n=>t.moveTest(s.shift,n);return w("div",{class:"pg-sliders"},this.slider("T","temperature \
of the others",n=>`T = ${n}`),this.slider("rho","radius of SAM",n=>`${n}, a distance`),this.slider("rate","learning rate"),this.keep("ensemb\
le","ensemble",e,n=>Bs(n,"draw")),this.keep("bend","bend of the test ground",r),this.slider("draws","draws a step",n=>`S = ${n}`,"of which a\
 step averages gradients"))}folded(t){let{world:s}=this,e=P("Step","one step of every method",()=>{s.play(!1),s.advance(1)}),r=P("20 seeds",
"20 runs of each method",()=>s.many()),n=P("Link","copy a link to what is shown",()=>s.share(n)),i=P("PNG","save both grounds as a picture",
()=>s.picture()),a=w("div",{class:"pg-row"},e,r,this.truthButton);t&&a.append(n,i);let h=[s.section,s.traces,s.chart].map(({node:l})=>l);return w(
"details",{class:"pg-more"},w("summary",{},"More: methods, settings, seeds"),this.verdict,a,this.chips,this.names,this.others,w("div",{class:"\
pg-boards"},...h),w("div",{class:"pg-under"},this.ground.node,this.tools,this.about))}build(){let{world:t}=this,s=P("Restart","the same run \
from its start",()=>t.train()),r=P("New seed","other noise; the last runs stay as shadows",()=>{t.model.seed+=1,t.train()});return w("sectio\
n",{class:"pg-world","aria-label":"two weights"},t.sequence.node,this.sides,this.maps,t.frontier.node,this.score,this.first,this.found,w("di\
v",{class:"pg-row pg-run"},this.playButton,s,r),this.more)}chip(t){let s=I(t),e=()=>this.world.toggle(t),r=P("",`show or hide ${s}`,e,{"data\
-method":t});return r.append(w("i",{"aria-hidden":"true"}),s),r}slider(t,s,e=String,r=""){let{world:n}=this,i=(a,h)=>{n.model.settings[t]=a,
this.side("training"),h?n.train():(n.model.rest(),n.draw())};return this.keep(t,s,i,e,r)}keep(t,s,e,r=String,n=""){let i=new st(s,ds[t],ds[t][0],
e,{say:r,help:n});return this.sliders[t]=i,i.node}toggles(t,s,e){let{world:r}=this,n=i=>{s==="side"?this.side(i):r.tool=i,this.tell()};return w(
"div",{class:`pg-tools pg-${s}s`,role:"group","aria-label":t},...e.map(([i,a])=>P(a,a,()=>n(i),{[`data-${s}`]:i})))}foundSliders(){let{world:t}=this,
s=(e,r,n)=>new st(r,Je[e],t.frontier[e],i=>{t.frontier.show({[e]:i}),t.tellScore()},{say:n}).node;return w("div",{class:"pg-first pg-found"},
s("radius","radius on the trained network",e=>e?String(e):"0: as VI"),s("T","temperature on the trained network",e=>`T = ${e}`))}side(t){this.
maps.dataset.side=t;for(let s of ut(this.sides))s.setAttribute("aria-pressed",String(s.dataset.side===t))}show(t){let s=t.view==="frontier";
for(let e of[this.maps,this.sides,this.first])e.hidden=s;for(let e of[this.world.frontier.node,this.found])e.hidden=!s;(t.key==="draws"?this.
first:this.others).append(this.sliders.draws.node),this.side("training")}tell(){let{model:t,tool:s,truth:e}=this.world;for(let a of ut(this.
chips)){let{method:h=""}=a.dataset;a.setAttribute("aria-pressed",String(t.on.has(h))),a.style.setProperty("--method",S(h))}for(let a of ut(this.
tools))a.setAttribute("aria-pressed",String(a.dataset.tool===s));this.tools.hidden=t.name!=="yours",this.truthButton.setAttribute("aria-pres\
sed",String(e)),this.ground.select.value=t.name;let{sliders:r}=this;for(let[a,h]of Object.entries(t.settings))r[a].value=h;r.bend.value=t.bend,
r.ensemble.value=t.ensemble,r.shift.value=t.far,r.shift.text.textContent=A(t.far),r.rho.node.hidden=!t.on.has("sam"),r.radius.node.hidden=!t.
on.has("sabma"),r.viT.node.hidden=!t.on.has("vi"),this.about.textContent=t.world.about;let n=[...t.on].some(a=>z[a])?"q: a method's cloud of\
 weights":"",i=[...[...t.on].map(a=>Tr[a]),n].filter(Boolean);this.names.textContent=`${i.join(". ")}.`}};function Cs(o,t,s,e,r=!1){return w("div",{style:`--method:${S(o)}`,class:r?"pg-wins":""},w("span",{},t),w("b",{},s),w("small",{},e[0],w("br"),
e[1]))}var ho=o=>Number.isFinite(o)?o.toFixed(2):"–";function lo({model:o,frontier:t,sequence:{card:s}}){if(s.view==="frontier")return t.numbers.
map(({method:n,nll:i,lambda:a})=>Cs(n,I(n),a,["curvature λ₁",`test NLL ${i}`]));if(s.counts&&(o.ends.length||!o.steps))return s.counts(o).
map(({name:n,value:i})=>Cs("sabma",n,i,["runs end","in the meadow"]));let r=o.steps||o.ends.length?o.ranking(o.test)[0]?.method:"";return[...o.
runs.keys()].map(n=>{let i=ho(o.lossAt(o.test,n)),a=`training ${ho(o.lossAt(o.loss,n))}`;return Cs(n,I(n),i,["test loss",a],r===n)})}var fs=class{at=0;guess="";told=!1;constructor(t){this.world=t,this.steps=w("div",{class:"pg-steps",role:"group","aria-label":"questions"},...Lt.
map((n,i)=>P(`${i+1} ${n.title}`,n.title,()=>this.go(i)))),this.ask=w("p",{class:"pg-ask"}),this.guesses=w("div",{class:"pg-guess",role:"gro\
up","aria-label":"your guess"}),this.answer=w("p",{class:"pg-answer",role:"status"}),this.next=P("Next →","the next question",()=>this.go(
this.at+1),{class:"pg-next"});let s=w("div",{},this.steps,this.ask),e=w("div",{class:"pg-choose"},this.guesses,this.next),r=w("div",{class:"\
pg-reply"},e,this.answer);this.node=w("div",{class:"pg-card"},s,r)}get card(){return Lt[this.at]}go(t){this.at=t,this.guess="",this.told=!1,
this.world.begin(this.card),this.show()}show(){let{card:t}=this;[...this.steps.children].forEach((s,e)=>{e===this.at?s.setAttribute("aria-cu\
rrent","step"):s.removeAttribute("aria-current")}),this.ask.textContent=t.ask,this.guesses.replaceChildren(...t.guesses.map(([s,e])=>P(e,`gu\
ess: ${e}`,()=>this.take(s),{"data-guess":s}))),this.answer.textContent="Your guess?",this.next.hidden=!0}take(t){this.guess=t,this.told=!1;
for(let s of ut(this.guesses))s.setAttribute("aria-pressed",String(s.dataset.guess===t));this.answer.textContent="They train …",this.world.
run(this.card),this.tell()}tell(){let{card:t,world:s}=this;if(!this.guess||this.told||!Ue(t,s.model))return;this.told=!0;let e=t.truth(s.model)===
this.guess;this.answer.replaceChildren(w("b",{},e?"You guessed right. ":"Not quite. "),t.answer(s.model));for(let r of ut(this.guesses))r.classList.
toggle("pg-right",r.dataset.guess===t.truth(s.model));this.next.hidden=this.at===Lt.length-1,t.view==="grounds"&&s.side("test")}};var Ar=150,$r=6,Er=2e3,gs=class{tool="start";truth=!1;due=0;frames=0;still=[];constructor(t={}){this.model=new ns(()=>this.shown(!0));let s=r=>new ls(
(n,i,a,h,l)=>r(new cs(n,i,a,h,l)));this.training=s(r=>io(r,this.model,this.truth?this.training:null)),this.testing=s(r=>ao(r,this.model));let e=(r,n=.8)=>new B(
(i,a,h)=>r(this.model,i,a,h),{ratio:n,label:"",least:230,most:300});this.section=e(Be,.56),this.traces=e(We),this.chart=e(je),this.frontier=
new hs,this.sequence=new fs(this),this.panel=new ps(this,t.link!==!1),this.node=this.panel.node,ro(this),no(this),this.lay(),t.link!==!1&&this.
read(new URLSearchParams(location.search)),this.clock=new kt(this.training.board.node,r=>this.frame(r)),this.sequence.show(),this.begin(Lt[0],
!1)}side(t){this.panel.side(t)}begin(t,s=!0){let e=t.view==="frontier";this.play(!1),this.panel.show(t),s&&!e&&(this.model.seed=1,this.model.
on=new Set(t.on??["vi","sabma"]),this.model.choose("hollow"),Object.assign(this.model.settings,t.set),this.model.moveTest([Ps,0],0),this.lay()),
e&&this.frontier.show({open:!1,radius:1}),this.again(!1)}run(t){if(t.view==="frontier")this.frontier.show({open:!0});else if(t.seeds){let s=e=>t.
tell?.(this.model,e)??"";this.model.many(["sabma"],s,t.seeds)}else Object.assign(this.model.settings,t.then),this.train();this.tell()}choose(t){
this.model.choose(t),this.lay(),this.train()}lay(){let{model:t}=this;this.training.lay(t.loss,t.world.top),this.testing.lay(t.test,t.world.top),
this.tool=t.name==="yours"?"down":"start"}read(t){t.size&&(this.model.read(t,ds),this.lay())}moveTest(t,s=this.model.bend){this.model.moveTest(
t,s),this.testing.lay(this.model.test,this.model.world.top),this.side("test"),this.shown(!0)}moveStart(t,s){this.play(!1);let{start:e}=this.
model;this.tool==="start"&&(this.model.start=[e[0]+t,e[1]+s]),this.again(!1)}average(t){this.model.ensemble=t,this.shown(!0)}toggle(t){let{on:s}=this.
model;s.has(t)&&s.size===1||(s.has(t)?s.delete(t):s.add(t),this.train())}play(t){if(t&&this.model.over&&this.model.rest(),this.clock?.play(t),
this.panel.playButton.textContent=t?"Pause":"Play",this.tell(),!t){for(let s of this.still)s(this);this.model.over&&this.model.compareT()}}train(){
this.again(),jt.matches?(this.model.advance(K),this.play(!1),this.shown(!0)):this.play(!0)}again(t=!0){this.model.rest(t),this.training.density=
null,this.shown(!0);for(let s of this.still)s(this)}advance(t){this.model.advance(t),this.shown()}frame(t){this.due+=t*Ar;let s=Math.min($r,
Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&this.advance(s),this.model.over&&(this.play(!1),this.shown(!0))}many(){this.play(!1),
this.model.many([...this.model.on],()=>qe(this.model)),this.shown(!0)}recolor(){this.tell(),this.draw(!0),this.frontier.board.draw()}draw(t=!this.
clock?.playing){this.frames+=1,this.training.board.draw(),this.testing.board.draw(),this.panel.more.open&&((t||this.frames%3===1)&&this.section.
draw(),(t||this.frames%6===0)&&(this.traces.draw(),this.chart.draw()))}shown(t=!1){let{model:s}=this;if(this.draw(),this.clock?.playing||this.
tell(),(t||s.steps%4===0)&&this.tellScore(),!(t||!this.clock?.playing||s.steps%12===0))return;let e=s.tally||Pe(s);this.panel.verdict.textContent=
e,this.training.board.say(`${s.world.label}, seen from above. ${e}`);let r=`the training ground shifted by ${A(s.far)}`,n=s.bend?` and bent \
by ${s.bend}`:"";this.testing.board.say(`The test ground: ${r}${n}. ${is(s)}`),this.section.say("Section of the ground through a mean, with \
the posteriors above it."),this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${e}`),this.chart.say(`After a run: test l\
osses over temperature, radius or seeds. ${e}`),this.sequence.tell()}tell(){this.panel.tell()}tellScore(){this.panel.score.replaceChildren(...lo(
this))}share(t){let s=new URL(`?${this.model.query}`,location.href).href;history.replaceState(null,"",`?${this.model.query}${location.hash}`);
let e=n=>{t.textContent=n},r=navigator.clipboard?.writeText(s);Promise.resolve(r).then(()=>e("Copied"),()=>e("In the address")),setTimeout(()=>e(
"Link"),Er)}picture(){let s=[this.training.board,this.testing.board].map(({canvas:i})=>i).filter(i=>i.checkVisibility()),e=s.reduce((i,a)=>i+
a.width,0),r=w("canvas",{width:e,height:s[0].height}),n=0;for(let i of s)it(r).drawImage(i,n,0),n+=i.width;Ws(r.toDataURL("image/png"),`flat\
viz-${this.model.name}.png`)}};var Or=["weights","step","network","gap"],Lr=50,Ir={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{
radius:1,kappa:1}},Nr="The next step of SA-BMA's cloud on the ground above, once its run rests.",Pr="The same two methods train a network. W\
here it is flat, the rings of the loss around the draws are wide. On spirals the flatter training mostly has the lower test loss as well; on\
 the moons it is a matter of the seed. Click on a picture to add a point.",qr="No points lie in the middle, so an honest answer is unsure th\
ere. HMC, Hamiltonian Monte Carlo, draws from the exact posterior, if it runs long enough: its band is narrow at the points and wide between\
 them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands are too wide at the points and widen less in the middle.";function co(o,t={}){
let s=w("div",{class:"pg"});js(s),s.append(w("style",{},me));let r=new URLSearchParams(t.link===!1?"":location.search).has("embed"),n=t.worlds??
Or,i=new Set(r?n.slice(0,1):n),a={};document.documentElement.classList.toggle("pg-embedded",r);let h=(d,p,f)=>s.append(w("h2",{},d),w("p",{},
p),f);(i.has("weights")||i.has("step"))&&(a.weights=new gs(t),s.append(a.weights.node));let l=()=>{i.has("step")&&a.weights&&(a.step=new ss(
a.weights),h("One step of SA-BMA",Nr,a.step.node)),i.has("network")&&(a.network=new zt(t),h("A network of about fifty weights",Pr,a.network.
node)),i.has("gap")&&(a.gap=new zt({...t,...Ir}),h("A regression with a gap",qr,a.gap.node)),Object.assign(s,{playground:a})},c=()=>{s.dataset.
theme=H()?"dark":"light";for(let d of Object.values(a))d.recolor()};return o.replaceChildren(s),c(),a.weights?setTimeout(l,Lr):l(),Ds(c)}var Fr={
render:({model:o,el:t})=>co(t,{worlds:o.get("worlds"),autoplay:!1,link:!1})};return xo(Rr);})();
