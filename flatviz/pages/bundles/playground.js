var flatvizPlayground=(()=>{var ms=Object.defineProperty;var co=Object.getOwnPropertyDescriptor;var po=Object.getOwnPropertyNames;var fo=Object.prototype.hasOwnProperty;var go=(r,t)=>{for(var s in t)ms(r,s,{get:t[s],enumerable:!0})},mo=(r,t,s,e)=>{if(t&&typeof t=="object"||typeof t=="function")for(let o of po(
t))!fo.call(r,o)&&o!==s&&ms(r,o,{get:()=>t[o],enumerable:!(e=co(t,o))||e.enumerable});return r};var uo=r=>mo(ms({},"__esModule",{value:!0}),r);var Ar={};go(Ar,{default:()=>Tr,mount:()=>ao});function Y(){let{body:r,documentElement:t}=document;return r.dataset.jpThemeLight?r.dataset.jpThemeLight==="false":t.dataset.theme?t.dataset.
theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Ds(r){let t=matchMedia("(prefers-color-scheme: dark)"),s=new MutationObserver(r);return s.observe(document.body,{attributes:!0,attributeFilter:[
"data-jp-theme-light"]}),s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",r),()=>{
s.disconnect(),t.removeEventListener("change",r)}}function b(r,t={},...s){let e=document.createElement(r);for(let[o,n]of Object.entries(t))typeof n=="function"?e.addEventListener(o.slice(2),
n):n!=null&&n!==!1&&e.setAttribute(o,n===!0?"":String(n));return e.append(...s.filter(o=>o!=null)),e}function Q(r,t={},...s){let e=document.
createElementNS("http://www.w3.org/2000/svg",r);for(let[o,n]of Object.entries(t))e.setAttribute(o,String(n));return e.append(...s),e}var F=(r,t,s,e={})=>b(
"button",{type:"button",title:t,onclick:s,...e},r),nt=r=>r.getContext("2d"),zs=r=>Number(r.toPrecision(3)).toString(),Bs=(r,t)=>`${r} ${t}${r===
1?"":"s"}`,jt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};function Ws(r,t){let s=b("a",{href:r,download:t});document.body.append(s),s.click(),s.remove()}function js(r){r.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return r.addEventListener("keydown",t),()=>r.removeEventListener("keydown",t)}var X=class{constructor(t){this.state=t*2654435761+12345>>>0,this.spare=null;for(let s=0;s<4;s++)this.uniform()}uniform(){this.state=this.state+
1831565813>>>0;let t=this.state;return t=Math.imul(t^t>>>15,t|1),t^=t+Math.imul(t^t>>>7,t|61),((t^t>>>14)>>>0)/4294967296}normal(){if(this.spare!==
null){let e=this.spare;return this.spare=null,e}let t=Math.sqrt(-2*Math.log(1-this.uniform())),s=2*Math.PI*this.uniform();return this.spare=
t*Math.sin(s),t*Math.cos(s)}normals(t){return Float64Array.from({length:t},()=>this.normal())}},B=(r,t)=>{let s=0;for(let e=0;e<r.length;e++)
s+=r[e]*t[e];return s},et=r=>Math.sqrt(B(r,r)),D=(r,t,s=1)=>r.map((e,o)=>e+s*t[o]),L=r=>new Float64Array(r),_s=1e-12;var wo={bowl:({at:[r,t],h:s},e,o,n)=>(n[0]+=s*(e-r),n[1]+=s*(o-t),.5*s*((e-r)**2+(o-t)**2)),dent:({at:[r,t],depth:s,width:e},o,n,i)=>{let[a,
h]=Array.isArray(e)?e:[e,e],l=s*Math.exp(-.5*(((o-r)/a)**2+((n-t)/h)**2));return i[0]+=l*(o-r)/(a*a),i[1]+=l*(n-t)/(h*h),-l},valley:({k:r,a:t,
b:s},e,o,n)=>{let i=o-t*e*e-s;return n[0]-=2*r*i*t*e,n[1]+=r*i,.5*r*i*i},wall:({at:r,height:t,soft:s},e,o,n)=>{let i=Math.tanh((e-r)/s);return n[0]+=
t*(1-i*i)/(2*s),.5*t*(1+i)},modes:({a:r,b:t,narrow:s,ratio:e},o,n,i)=>{let a=s*e,h=((o-r[0])**2+(n-r[1])**2)/(2*s**2),l=((o-t[0])**2+(n-t[1])**
2)/(2*a**2),c=Math.min(h,l),p=Math.exp(c-h),d=Math.exp(c-l),f=p/(p+d);return i[0]+=f*(o-r[0])/s**2+(1-f)*(o-t[0])/a**2,i[1]+=f*(n-r[1])/s**2+
(1-f)*(n-t[1])/a**2,c-Math.log(p+d)+Math.log(2)}},bo=(r,t,s,e)=>wo[r.kind](r,t,s,e),xo=L(2);function Gt(r){return{dim:2,both(t,s){let e=s??xo;
e[0]=e[1]=0;let o=0;for(let n of r)o+=bo(n,t[0],t[1],e);return o}}}function Gs(r,[t,s],e){let o=L(2);return{dim:2,both(n,i){o[0]=n[0]-t,o[1]=
n[1]-s-e*(n[0]*n[0]-1);let a=r.both(o,i);return i&&(i[0]-=2*e*n[0]*i[1]),a}}}var _t=class{constructor(t){this.widths=t,this.starts=[],this.dim=
0;for(let s=1;s<t.length;s++)this.starts.push(this.dim),this.dim+=t[s]*(t[s-1]+1);this.a=t.map(L),this.d=t.map(L)}init(t,s=1){let e=L(this.dim);
return this.starts.forEach((o,n)=>{let i=this.widths[n+1]*(this.widths[n]+1);for(let a=0;a<i;a++)e[o+a]=s*t.normal()/Math.sqrt(this.widths[n])}),
e}forward(t,s,e){let{a:o,widths:n,starts:i}=this,a=n.length-1;for(let h=0;h<n[0];h++)o[0][h]=s[e+h];for(let h=0;h<a;h++){let l=o[h],c=o[h+1],
p=n[h],d=n[h+1],f=i[h]+p*d;for(let g=0,u=i[h];g<d;g++){let m=t[f+g];for(let w=0;w<p;w++)m+=t[u++]*l[w];c[g]=h+1<a?Math.tanh(m):m}}return o[a]}backward(t,s){
let{a:e,d:o,widths:n,starts:i}=this;for(let a=n.length-2;a>=0;a--){let h=e[a],l=o[a+1],c=o[a],p=n[a],d=n[a+1],f=i[a]+p*d;c.fill(0);for(let g=0,
u=i[a];g<d;g++){let m=l[g];s[f+g]+=m;for(let w=0;w<p;w++,u++)s[u]+=m*h[w],c[w]+=m*t[u]}if(a>0)for(let g=0;g<p;g++)c[g]*=1-h[g]*h[g]}}},vo=.5*
Math.log(2*Math.PI);function Ys(r,{x:t,y:s,noise:e}){let o=s.length,{widths:n,d:i}=r,a=n[0],h=n[n.length-1],l=i[i.length-1];return{dim:r.dim,
both(c,p){p&&p.fill(0);let d=0;for(let f=0;f<o;f++){let g=r.forward(c,t,f*a);if(e){let u=(g[0]-s[f])/e;d+=.5*u*u+Math.log(e)+vo,l[0]=u/e/o}else{
let u=-1/0,m=0;for(let w=0;w<h;w++)u=Math.max(u,g[w]);for(let w=0;w<h;w++)l[w]=Math.exp(g[w]-u),m+=l[w];d+=u+Math.log(m)-g[s[f]];for(let w=0;w<
h;w++)l[w]=(l[w]/m-(w===s[f]?1:0))/o}p&&r.backward(c,p)}return d/o}}}var vt=(r,t)=>r.mean.map((s,e)=>s+Math.exp(r.logStd[e])*t[e]),J=r=>({mean:r.mean.slice(),logStd:r.logStd.slice()});function it(r,t,s){let e={
value:0,mean:L(r.dim),logStd:L(r.dim)},o=L(r.dim);for(let n of s){e.value+=r.both(vt(t,n),o)/s.length;for(let i=0;i<o.length;i++)e.mean[i]+=
o[i]/s.length,e.logStd[i]+=o[i]*Math.exp(t.logStd[i])*n[i]/s.length}return e}function Nt(r,t){let s={value:0,mean:L(r.mean.length),logStd:L(
r.mean.length)};for(let e=0;e<r.mean.length;e++){let o=Math.exp(-2*t.logStd[e]),n=r.mean[e]-t.mean[e],i=Math.exp(2*r.logStd[e])*o;s.value+=.5*
(i+n*n*o-1)+t.logStd[e]-r.logStd[e],s.mean[e]=o*n,s.logStd[e]=i-1}return s}function us(r,t,s){let e=t.mean.map((l,c)=>Math.exp(2*r.logStd[c])*
l),o=t.logStd.map(l=>l/2),n=B(t.mean,e),i=Math.max(n+B(t.logStd,o),1e-300),a=s/Math.sqrt(i),h={mean:e.map(l=>a*l),logStd:o.map(l=>a*l)};return{
delta:h,share:n/i,there:{mean:D(r.mean,h.mean),logStd:D(r.logStd,h.logStd)}}}var yo=(r,t)=>{let s=t/(et(r)+_s);return r.map(e=>e*s)},So=.2,Yt=.9,
Pt=r=>({mean:L(r),squares:L(r+1),filled:0});function Hs(r,t,s,e,o,{rate:n,momentum:i,T:a}){let h=Nt(r,e),l=r.mean.length,c=L(l),p=L(l),d=a||
1,f=r.logStd.map(Math.exp);for(let u=0;u<l;u++){let m=Math.exp(-2*e.logStd[u]),w=1/(f[u]*f[u]);if(c[u]=s.mean[u]/d,p[u]=s.logStd[u]/d,a)for(let x of o){
let y=m*(r.mean[u]-e.mean[u])+(m-w)*f[u]*x[u];c[u]+=y/o.length,p[u]+=y*f[u]*x[u]/o.length}}t.filled=Yt*t.filled+1-Yt;let g=t.squares.map((u,m)=>{
let w=m?p[m-1]*p[m-1]:c.reduce((x,y,v)=>x+y*y*f[v]*f[v],0);return t.squares[m]=Yt*u+(1-Yt)*w,1/(1+Math.sqrt(t.squares[m]/t.filled))});for(let u=0;u<
l;u++)t.mean[u]=i*t.mean[u]+g[0]*f[u]*f[u]*c[u],r.mean[u]-=n*t.mean[u],r.logStd[u]-=.5*So*n*g[u+1]*p[u];return h}function qt(r,t,s,e,o,n){let i=it(
r,t,o);return{from:J(t),g:i,pull:Hs(t,s,i,e,o,n)}}function Ut(r,t,s,e,o,n){if(n.radius===0)return qt(r,t,s,e,o,n);let i=J(t),a=it(r,t,o),h=us(
t,a,n.radius),l=it(r,h.there,o);return{from:i,g:a,...h,worst:l,pull:Hs(t,s,l,e,o,n)}}function Vt(r,t,s,e,{rate:o,momentum:n,T:i,radius:a=0}){
let h=t.slice(),l=L(t.length),c=r.both(t,l),p=a?yo(l,a):null,d=L(t.length),f=p?r.both(D(t,p),d):(d.set(l),c);for(let g=0;g<t.length;g++)s[g]=
n*s[g]+d[g]+i*Math.exp(-2*e.logStd[g])*(t[g]-e.mean[g]),t[g]-=o*s[g];return{from:h,value:c,at:f,g:l,e:p,there:d}}function Us(r,t,s,e,{rate:o,
T:n}){let i=L(t.length),a=r.both(t,i);for(let h=0;h<t.length;h++){let l=n*Math.exp(-2*s.logStd[h])*(t[h]-s.mean[h]);t[h]+=-o*(i[h]+l)+Math.sqrt(
2*o*n)*e[h]}return{value:a,g:i}}function Vs(r,t,s,e){let o=L(e.length),n=r.both(vt(t,e),o);for(let i=0;i<e.length;i++)o[i]=o[i]*Math.exp(t.logStd[i])/
s+e[i];return{value:n/s+.5*B(e,e),slope:o,mean:n}}function ko(r,t,s,e,o,n,i){let a=D(s,e.slope,-.5*o);for(let h=0;h<n;h++)t=D(t,a,o),e=r(t),
a=D(a,e.slope,h<n-1?-o:-.5*o),i?.push(t);return{z:t,momentum:a,at:e}}var Ht=class{t;error;accept;first;average;constructor(t,s=.8){this.t=0,
this.error=0,this.log=Math.log(t),this.average=Math.log(t),this.first=Math.log(t),this.accept=s}get size(){return Math.exp(this.log)}follow(t){
this.t+=1,this.error+=(this.accept-t-this.error)/(this.t+10),this.log=Math.log(10)+this.first-Math.sqrt(this.t)/.05*this.error,this.average+=
this.t**-.75*(this.log-this.average)}settle(){this.t=0,this.error=0,this.log=this.average,this.first=this.average}};function Xs(r,t,s,e,o,n,i,{
time:a=Math.PI/2,most:h=500,path:l=void 0}={}){let c=Math.min(h,Math.ceil(o*a/i)),p=ko(r,t,e,s,i,c,l),d=s.value+.5*B(e,e)-p.at.value-.5*B(p.
momentum,p.momentum),f=Number.isFinite(d)?Math.exp(Math.min(0,d)):0;return n<f?{z:p.z,at:p.at,rate:f,n:c,taken:!0}:{z:t,at:s,rate:f,n:c,taken:!1}}var gt=["gd","sam","vi","sabma","sgld","hmc"],W={vi:!0,sabma:!0},at={sgld:!0,hmc:!0},yt=class{last=null;kept=[];constructor(t,s,e,o,n,i){this.
method=t,this.loss=s,this.prior=e,this.settings=n,this.random=new X(i),this.steps=0,this.q=J(o),this.velocity=Pt(s.dim),this.z=o.mean.map((a,h)=>(a-
e.mean[h])/Math.exp(e.logStd[h])),this.size=new Ht(.1)}get finite(){return this.q.mean.every(t=>Number.isFinite(t)&&Math.abs(t)<1e6)&&this.q.
logStd.every(Number.isFinite)}noise(){return Array.from({length:this.settings.draws},()=>this.random.normals(this.loss.dim))}step(){let{method:t,
loss:s,q:e,velocity:o,prior:n,settings:i}=this;if(this.steps+=1,t==="vi"||t==="sabma"){let a=this.noise(),l=(t==="vi"?qt:Ut)(s,e,o,n,a,i);this.
last=l}else if(t==="gd"||t==="sam"){let a=t==="sam"?i.radius:0;this.last=Vt(s,e.mean,o.mean,n,{...i,radius:a})}else t==="sgld"?(this.last=Us(
s,e.mean,n,this.random.normals(s.dim),i),this.keep(e.mean.slice(),5)):this.trajectory();return this.last}trajectory(){let{loss:t,prior:s,settings:e,
random:o}=this,n=d=>Vs(t,s,e.T,d),i=[],a=o.normals(t.dim),h=.5+o.uniform(),l=o.uniform(),c={path:i,most:e.most??200},p=Xs(n,this.z,n(this.z),
a,h,l,this.size.size,c);this.last={...p,path:i.map(d=>vt(s,d))},this.z=p.z,this.steps<=60&&this.size.follow(p.rate),this.steps===60&&this.size.
settle(),this.q.mean.set(vt(s,this.z)),this.keep(this.q.mean.slice(),1)}keep(t,s){this.steps%s||(this.kept.push(t),this.kept.length>400&&this.
kept.shift())}members(t,s){if(W[this.method])return s.slice(0,t).map(e=>vt(this.q,e));if(at[this.method]&&this.kept.length){let e=Math.max(1,
Math.floor(this.kept.length/2/t));return this.kept.filter((o,n)=>(this.kept.length-1-n)%e===0).slice(-t)}return[this.q.mean]}};function Mo(r,t,s){let e=.001/Math.max(et(s),1e-300),o=l=>{let c=L(t.length);return r.both(D(t,s,l*e),c),c},[n,i,a,h]=[o(1),o(-1),o(2),o(-2)];
return n.map((l,c)=>(8*(n[c]-i[c])-(a[c]-h[c]))/(12*e))}function Ft(r,t,s,e=40,o=null){let n=t.length,i=Math.min(n,e),a=[],h=[],l=[],c=new X(
0).normals(n);for(let{vector:f}of o??[])c=D(c,f,10*Math.sqrt(n));c=c.map(f=>f/et(c));for(let f=0;f<i;f++){a.push(c);let g=Mo(r,t,c);h.push(B(
c,g));for(let m=0;m<2;m++)for(let w of a)g=D(g,w,-B(w,g));let u=et(g);if(f===i-1||u<1e-9)break;l.push(u),c=g.map(m=>m/u)}let p=a.length,d=Array.
from({length:p},(f,g)=>Float64Array.from({length:p},(u,m)=>g===m?h[g]:Math.abs(g-m)===1?l[Math.min(g,m)]:0));return To(d).slice(0,s).map(({value:f,
vector:g})=>{let u=L(n);return a.forEach((m,w)=>{for(let x=0;x<n;x++)u[x]+=g[w]*m[x]}),{value:f,vector:u}})}function To(r){let t=r.length,s=r.
map((e,o)=>Float64Array.from({length:t},(n,i)=>o===i?1:0));for(let e=0;e<40;e++){let o=0;for(let n=0;n<t;n++)for(let i=n+1;i<t;i++){if(o+=r[n][i]**
2,Math.abs(r[n][i])<1e-300)continue;let a=(r[i][i]-r[n][n])/(2*r[n][i]),h=(a>=0?1:-1)/(Math.abs(a)+Math.hypot(a,1)),l=1/Math.hypot(h,1),c=h*
l;for(let p=0;p<t;p++){let d=r[p][n],f=r[p][i];r[p][n]=l*d-c*f,r[p][i]=c*d+l*f}for(let p=0;p<t;p++){let d=r[n][p],f=r[i][p];r[n][p]=l*d-c*f,
r[i][p]=c*d+l*f}for(let p=0;p<t;p++){let d=s[p][n],f=s[p][i];s[p][n]=l*d-c*f,s[p][i]=c*d+l*f}}if(o<1e-24)break}return r.map((e,o)=>({value:e[o],
vector:s.map(n=>n[o])})).sort((e,o)=>o.value-e.value)}var ws=[];for(let r=-4.5;r<=4.5;r+=.5)for(let t=-4.5;t<=4.5;t+=.5)ws.push([r,t,Math.exp(
-.5*(r*r+t*t))]);var Ao=ws.reduce((r,t)=>r+t[2],0);function Xt(r,t){let[s,e]=t.logStd.map(Math.exp),o=L(2),n=0;for(let[i,a,h]of ws)o[0]=t.mean[0]+
s*i,o[1]=t.mean[1]+e*a,n+=h*r.both(o,null);return n/Ao}function Ks(r,t,s){let e=r.both(t,null);for(let o=1;o<=4;o++)for(let n=0;n<32;n++){let i=s*
o/4,a=2*Math.PI*n/32;e=Math.max(e,r.both([t[0]+i*Math.cos(a),t[1]+i*Math.sin(a)],null))}return e}function bs(r,t,s){let e=-1/0,o=0;for(let n of r)e=Math.max(e,n);for(let n=0;n<r.length;n++)t[s+n]=Math.exp(r[n]-e),o+=t[s+n];for(let n=0;n<
r.length;n++)t[s+n]/=o}function Js(r,t,s){let e=r.widths[0],o=r.widths[r.widths.length-1],n=s.length/e,i=L(n*o),a=L(n*o);for(let h of t){for(let l=0;l<
n;l++)bs(r.forward(h,s,l*e),a,l*o);for(let l=0;l<i.length;l++)i[l]+=a[l]/t.length}return i}function Qs(r,t){let s=r.length/t.length;return t.
reduce((e,o,n)=>e-Math.log(Math.max(r[n*s+o],1e-300)),0)/t.length}function Zs(r,t){let s=r.length/t.length;return t.filter((e,o)=>{for(let n=0;n<
s;n++)if(r[o*s+n]>r[o*s+e])return!1;return!0}).length/t.length}function te(r,t,s=15){let e=r.length/t.length,o=L(s);return t.forEach((n,i)=>{
let a=0;for(let c=1;c<e;c++)r[i*e+c]>r[i*e+a]&&(a=c);let h=r[i*e+a],l=Math.min(s-1,Math.max(0,Math.ceil(h*s)-1));o[l]+=(a===n?1:0)-h}),o.reduce(
(n,i)=>n+Math.abs(i),0)/t.length}var ht=[2.4,2],Rt=1.2,se=1.5,ee=200,xs=1500,oe=200,re=3,Ct=.15,vs=[[78,134,181],[214,133,62]],ys={spiral:"spirals",moons:"two moons",circles:"\
circles",xor:"XOR",none:"your points alone, two of each or more"},ne="a regression with a gap",Kt={one:["one layer of 12",[12]],two:["two la\
yers of 8",[8,8]]};var $=r=>Number.isFinite(r)?zs(r):"–",I=r=>METHOD_STYLES[r],T=r=>I(r)[Y()?2:1],$o={light:{ink:"#1f2933",soft:"#52606d",paper:"#ffffff",line:"\
#d9dee4",low:[222,236,242],high:[232,217,186],truth:"#9b3d8a",halo:"rgba(255,255,255,.85)"},dark:{ink:"#e4e7eb",soft:"#b1bac4",paper:"#15191\
e",line:"#3a434d",low:[14,54,74],high:[72,67,60],truth:"#e6a3da",halo:"rgba(21,25,30,.8)"}},E=()=>$o[Y()?"dark":"light"],Ss=(r,t)=>`${t} ${r}\
px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`;function A(r,t,s,e,{color:o=E().ink,size:n=13,align:i="left",weight:a=400,
halo:h=!0,base:l="middle"}={}){r.font=Ss(n,a),r.textAlign=i,r.textBaseline=l,h&&(r.lineWidth=3.5,r.strokeStyle=E().halo,r.strokeText(t,s,e)),
r.fillStyle=o,r.fillText(t,s,e)}function U(r,t,s,e,o,n){if(r.beginPath(),r.lineWidth=2.5,r.strokeStyle=r.fillStyle=n,t==="x"){r.moveTo(s-o,e-
o),r.lineTo(s+o,e+o),r.moveTo(s+o,e-o),r.lineTo(s-o,e+o),r.stroke();return}if(t==="cross"){r.moveTo(s-o,e),r.lineTo(s+o,e),r.moveTo(s,e-o),r.
lineTo(s,e+o),r.stroke();return}t==="square"?r.rect(s-o,e-o,2*o,2*o):t==="triangle-up"?(r.moveTo(s,e-1.2*o),r.lineTo(s+1.1*o,e+o),r.lineTo(s-
1.1*o,e+o),r.closePath()):r.arc(s,e,o,0,2*Math.PI),r.fill(),r.lineWidth=1.5,r.strokeStyle=E().paper,r.stroke()}function St(r,t,s,e=()=>0){let{
low:o,high:n}=E();return ks(t,s,i=>{let a=1+e(Math.floor(i/s),i%s);return o.map((h,l)=>(h+(n[l]-h)*r[i])*a)})}function ks(r,t,s){let e=b("ca\
nvas",{width:t,height:r}),o=nt(e),n=o.createImageData(t,r);for(let i=0;i<r*t;i++)n.data.set([...s(i),255],4*i);return o.putImageData(n,0,0),
e}function lt(r,t,s,e){let o=[],n=(i,a)=>(e-i)/(a-i);for(let i=0;i+1<t;i++)for(let a=0;a+1<s;a++){let h=i*s+a,l=r[h],c=r[h+1],p=r[h+s+1],d=r[h+
s],f=[];l<e!=c<e&&f.push([a+n(l,c),i]),c<e!=p<e&&f.push([a+1,i+n(c,p)]),d<e!=p<e&&f.push([a+n(d,p),i+1]),l<e!=d<e&&f.push([a,i+n(l,d)]);for(let g=0;g+
1<f.length;g+=2)o.push([...f[g],...f[g+1]])}return o}function ct(r,t,s,e,o,n){r.beginPath();for(let[i,a,h,l]of t)r.moveTo(i/(e-1)*o,a/(s-1)*
n),r.lineTo(h/(e-1)*o,l/(s-1)*n);r.stroke()}function Jt(r,t,s,e,o,n,i,{log:a=!1,most:h=0}={}){let l=E(),c=52,p=v=>a?Math.log10(Math.max(v,1e-6)):v,d=i.flatMap(v=>v.y.filter(Number.isFinite).
map(p)),[f,g]=[Math.min(...d),Math.max(...d)];d.length||([f,g]=[0,1]);let u=a?.6:.05*Math.max(1,Math.abs(g));g-f<u&&([f,g]=[(f+g-u)/2,(f+g+u)/
2]);let m=Math.max(h,...i.map(v=>v.x.at(-1)??0),10),w=v=>t+(e-c)*v/m,x=v=>s+o-7-(o-32)*(p(v)-f)/(g-f);r.strokeStyle=l.line,r.lineWidth=1,r.beginPath(),
r.moveTo(t,s+o-.5),r.lineTo(t+e-c,s+o-.5),r.stroke(),A(r,n,t,s+9,{color:l.soft,size:12.5,halo:!1});let y=[];for(let v of i){r.beginPath(),v.
y.forEach((P,N)=>{Number.isFinite(P)&&r.lineTo(w(v.x[N]),x(P))}),r.strokeStyle=v.color,r.globalAlpha=v.faint?.25:v.thin?.6:1,r.lineWidth=v.faint||
v.thin?1.2:2.4,r.stroke(),r.globalAlpha=1;let k=v.y[v.y.length-1];!v.faint&&!v.thin&&Number.isFinite(k)&&y.push({x:w(v.x[v.x.length-1])+6,y:x(
k),text:$(k),color:v.color})}y.sort((v,k)=>v.y-k.y),y.forEach((v,k)=>{k&&v.y<y[k-1].y+14&&(v.y=y[k-1].y+14)});for(let v=y.length-1,k=s+o;v>=
0;k=y[v].y-14,v--)y[v].y=Math.min(y[v].y,k);for(let v of y)A(r,v.text,v.x,v.y,{color:v.color,size:12.5,weight:600})}var Ms=2*Math.PI,ie=10,Eo=620;function ae(r,t,s,e){let{mean:o,fields:n}=r.trial,i=Y()?[21,25,30]:[255,255,255],a=ks(27,27,f=>{let g=Math.abs(
2*o[f]-1),u=vs[o[f]>.5?1:0];return i.map((m,w)=>m+(u[w]-m)*.75*g)});t.imageSmoothingQuality="high",t.drawImage(a,.5,.5,26,26,0,0,s,e);let h=(f,g,u,m)=>{
t.globalAlpha=u,t.lineWidth=m,ct(t,lt(f,27,27,g),27,27,s,e),t.globalAlpha=1},{ink:l,soft:c}=E();t.strokeStyle=l;for(let f of r.shadows)h(f.field,
0,.28,1.2);if(t.strokeStyle=T(r.method),n.length>1)for(let f of n)h(f,.5,.55,1.1);h(o,.5,1,2.6),Oo(r,t,s,e);let p={size:12.5,color:c};A(t,"p\
ale: unsure",8,e-12,p);let d=n.length>1?"thin lines: the draws":"one point: one line";A(t,d,s-8,e-12,{...p,align:"right"})}function Oo({world:r},t,s,e){
let{x:o,y:n}=r.data.train,i=a=>Y()?Math.min(255,1.35*a):.8*a;t.strokeStyle=E().paper,t.lineWidth=1.5,n.forEach((a,h)=>{let l=(o[2*h]/ht[0]+1)/
2*s,c=(1-o[2*h+1]/ht[1])/2*e;t.fillStyle=`rgb(${vs[a].map(i).join()})`,t.beginPath(),a?t.rect(l-4.5,c-4.5,9,9):t.arc(l,c,5,0,Ms),t.fill(),t.
stroke()})}function he(r,t,s,e){let{mean:o,fields:n,spread:i}=r.trial,{panes:a,data:h}=r.world,l=o.length,c=Math.max(...a.map(({trial:x})=>x.
highest)),p=x=>x/(l-1)*s,d=x=>e/2-x/c*e/2;t.fillStyle=T(r.method),t.beginPath(),o.forEach((x,y)=>t.lineTo(p(y),d(x+i[y])));for(let x=l-1;x>=
0;x--)t.lineTo(p(x),d(o[x]-i[x]));t.globalAlpha=.16,t.fill(),t.globalAlpha=1;let f=(x,y,v)=>{t.beginPath();for(let k=0;k<x.length;k++)t.lineTo(
p(k),d(x[k]));t.globalAlpha=y,t.lineWidth=v,t.stroke(),t.globalAlpha=1},{ink:g,soft:u}=E();t.strokeStyle=g;for(let x of r.shadows)f(x.field,
.25,1.2);if(t.strokeStyle=T(r.method),n.length>1)for(let x of n)f(x,.45,1.1);f(o,1,2.6);let{x:m,y:w}=h.train;t.fillStyle=g,w.forEach((x,y)=>{
t.beginPath(),t.arc((m[y]/3+1)/2*s,d(x),3.6,0,Ms),t.fill()}),r===a[0]&&A(t,"band: two standard deviations",8,e-12,{size:12.5,color:u})}function le(r,t,s,e){
let{ink:o,soft:n}=E(),{trial:i,world:a}=r;if(!i.drawn){A(t,"loss on the plane of the two sharpest directions",2,10,{color:n,size:12.5,halo:!1});
return}let{values:h,axes:l,center:c}=i.drawn,p=Math.min(...h),d=h.map(u=>Math.min(1,(u-p)/a.high)),f=St(d,23,23);t.drawImage(f,.5,.5,22,22,0,
0,s,e),t.strokeStyle=Y()?"rgba(255,255,255,.2)":"rgba(60,70,80,.3)",t.lineWidth=1;for(let u=1;u<ie;u++){let m=lt(d,23,23,u/ie);ct(t,m,23,23,
s,e)}t.fillStyle=T(r.method);for(let u of i.members()){let m=D(u,c,-1),w=(B(m,l[0].vector)/Rt+1)/2*s,x=(1-2*B(m,l[1].vector)/Rt)/2*e;t.beginPath(),
t.arc(w,x,3,0,Ms),t.fill()}let g=`loss, two sharpest directions · λ₁ = ${$(l[0].value)}`;A(t,g,6,12,{color:o,size:12.5})}function ce(r,t,s,e){
if(!r.steps){let l={color:E().soft,size:15,halo:!1};A(t,"Play draws the scores against the steps here.",0,12,l);return}let n=[[r.regression?
"test NLL":"test loss","test"],["calibration error, ECE","ece"],["λ₁ of the training loss","lambda"]].filter(([,l])=>l!=="ece"||!r.regression),
i=s<Eo&&n.length>2?1:n.length,a=(s-14*(i-1))/i,h=e*i/n.length;n.forEach(([l,c],p)=>{let f=r.panes.flatMap(({method:w,trial:x,shadows:y})=>{let v=T(
w);return[...y.map(P=>({color:v,x:P.x,y:P[c],faint:!0})),{color:v,x:x.x,y:x[c]}]}).filter(w=>w.y.some(Number.isFinite)),g=p%i*(a+14),u=Math.
floor(p/i)*h,m={log:c==="lambda",most:oe};Jt(t,g,u,a,h-4,l,f,m)})}var Lo=30,Io=1.5,No=.05,Po=12,pe=(r,t)=>({mean:r,logStd:new Float64Array(r.length).fill(Math.log(t))});function qo({regression:r,settings:t,
data:s},e){let{radius:o,rho:n,kappa:i,rate:a}=t,h=r&&!W[e]?.05:1,l=e==="sgld"?.2:1;return{T:i/s.train.y.length,rate:a*h*l,momentum:.9,draws:2,
radius:e==="sam"?n:o,most:r?30:12}}var Dt=class{fields=[];turn=0;x=[];test=[];ece=[];lambda=[];right=NaN;drawn=null;row=23;lost=!1;constructor(t,s){
let{regression:e,net:o,seed:n,data:i}=t;this.world=t,this.network=new _t([e?1:2,...Kt[o][1],e?1:2]);let{network:a}=this,h=new X(1e3+n);this.
learned=Ys(a,i.train);let l=pe(new Float64Array(a.dim),Io),c=pe(a.init(h),No),p=qo(t,s);this.learner=new yt(s,this.learned,l,c,p,n),this.noise=
Array.from({length:Lo},()=>h.normals(a.dim)),this.near=Ft(this.learned,this.learner.q.mean,2),this.axes=this.near,this.next={axes:this.axes,
center:c.mean,values:new Float64Array},this.mean=new Float32Array,this.refresh(1/0),this.score(),this.curve(),this.fill(23)}members(){return this.
learner.members(this.world.draws,this.noise)}step(){this.lost||(this.learner.step(),this.lost=!this.learner.finite)}refresh(t){let s=this.members(),
[e]=this.network.widths,{grid:o}=this.world.data,n=o.length/e,i=[0,0];this.fields.length=Math.min(this.fields.length,s.length),this.turn%=s.
length;for(let a=0;a<s.length;a++){if(this.fields[a]&&(a-this.turn+s.length)%s.length>=t)continue;let h=this.fields[a]??=new Float32Array(n);
for(let l=0;l<n;l++){let c=this.network.forward(s[a],o,l*e);this.world.regression?h[l]=c[0]:(bs(c,i,0),h[l]=i[1])}}t<s.length&&(this.turn+=t),
this.mean=new Float32Array(n);for(let a of this.fields)for(let h=0;h<n;h++)this.mean[h]+=a[h]/s.length}score(){let{test:t}=this.world.data,s=this.
members();if(this.x.push(this.world.steps),t.noise!==null)this.test.push(this.targetLoss(s,t,t.noise)),this.ece.push(NaN);else{let e=Js(this.
network,s,t.x);this.test.push(Qs(e,t.y)),this.ece.push(te(e,t.y)),this.right=Zs(e,t.y)}this.lambda.push(this.lost?NaN:this.sharpest()[0].value)}targetLoss(t,{
x:s,y:e},o){return e.reduce((i,a,h)=>{let c=t.map(p=>{let d=(this.network.forward(p,s,h)[0]-a)/o;return Math.exp(-.5*d*d)}).reduce((p,d)=>p+
d,0)/t.length;return i-Math.log(Math.max(c,1e-30))+Math.log(o)+.5*Math.log(2*Math.PI)},0)/e.length}sharpest(){let{learned:t,learner:s,near:e}=this;
return this.near=Ft(t,s.q.mean,2,Po,e),this.near}curve(){if(this.lost)return;this.axes=this.sharpest();let t=new Float64Array(529);this.next=
{axes:this.axes,center:this.learner.q.mean.slice(),values:t},this.row=0}fill(t){if(!this.world.planes||this.row===23)return;let{values:s,axes:e,
center:o}=this.next,n=i=>(2*i/22-1)*Rt;for(let i=Math.min(23,this.row+t);this.row<i;this.row++)for(let a=0;a<23;a++){let h=D(D(o,e[0].vector,
n(a)),e[1].vector,-n(this.row)/2);s[this.row*23+a]=this.learned.both(h,null)}this.row===23&&(this.drawn=this.next)}differ(t){let s=this.fields.
reduce((e,o)=>e+(o[t]-this.mean[t])**2,0);return Math.sqrt(s/this.fields.length)}get spread(){return this.mean.map((t,s)=>2*Math.hypot(this.
differ(s),Ct))}get highest(){let{spread:t}=this;return Math.min(6,Math.max(2,...this.mean.map((s,e)=>1.05*(Math.abs(s)+t[e]))))}get unsure(){
let t=e=>this.differ(Math.round(20*(e+3))),{x:s}=this.world.data.train;return{gap:t(-.1),points:s.reduce((e,o)=>e+t(o),0)/s.length}}};var mt=r=>[...r.children],Z=class{constructor(t,s,e,o,{say:n=a=>String(a),help:i=""}={}){this.stops=s,this.say=n,this.input=b("input",{type:"\
range",min:0,max:s.length-1,step:1,"aria-label":t}),this.text=b("output"),this.node=b("div",{class:"pg-slider",title:i||null},b("span",{},t),
this.text,this.input),this.input.addEventListener("input",()=>{this.told(),o(this.value,!1)}),this.input.addEventListener("change",()=>o(this.
value,!0)),this.value=e}get value(){return this.stops[Number(this.input.value)]}set value(t){let s=this.stops.map(e=>Math.abs(e-t));this.input.
value=String(s.indexOf(Math.min(...s))),this.told()}told(){this.text.textContent=this.say(this.value),this.input.setAttribute("aria-valuetex\
t",this.text.textContent)}},tt=class{constructor(t,s,e,o){let n=s.map(([i,a])=>b("option",{value:i,selected:i===e},a));this.select=b("select",
{"aria-label":t},...n),this.select.addEventListener("change",()=>o(this.select.value)),this.node=b("label",{class:"pg-menu"},b("span",{},t),
this.select)}},j=class{width=0;height=0;dense=1;constructor(t,{ratio:s,label:e,least:o=0,most:n=1/0}){this.canvas=b("canvas",{role:"img","ar\
ia-label":e}),this.node=b("div",{class:"pg-board"},this.canvas),this.paint=t,this.ratio=s,this.least=o,this.most=n,new ResizeObserver(()=>this.
fit()).observe(this.node)}fit(){let t=Math.floor(this.node.clientWidth),s=Math.round(Math.min(this.most,Math.max(this.least,t*this.ratio)));
if(!t||t===this.width&&s===this.height)return;let e=Math.min(2,devicePixelRatio||1);this.width=t,this.height=s,this.dense=e,Object.assign(this.
canvas,{width:t*e,height:s*e}),this.canvas.style.height=`${s}px`,this.draw()}reshape(t){t!==this.ratio&&(this.ratio=t,this.fit())}draw(){if(!this.
width)return;let t=nt(this.canvas);t.setTransform(this.dense,0,0,this.dense,0,0),t.clearRect(0,0,this.width,this.height),t.lineJoin=t.lineCap=
"round",this.paint(t,this.width,this.height)}say(t){this.canvas.getAttribute("aria-label")!==t&&this.canvas.setAttribute("aria-label",t)}},kt=class{constructor(t,s){
this.frame=s,this.playing=!1,this.visible=!1,this.request=0,this.last=0,new IntersectionObserver(([e])=>{this.visible=e.isIntersecting,this.
wake()},{threshold:.05}).observe(t)}play(t){this.playing=t,this.wake()}wake(){if(!this.playing||!this.visible||this.request)return;this.last=
performance.now();let t=s=>{if(this.request=0,!this.playing||!this.visible)return;let e=(s-this.last)/1e3;this.last=s,this.request=requestAnimationFrame(
t),this.frame(Math.min(e,.1))};this.request=requestAnimationFrame(t)}};var Fo=8,Ro=8,Qt={regression:.44,classes:.8},Zt=class{shadows=[];constructor(t,s){this.world=t,this.method=s,this.trial=new Dt(t,s),this.plane=
new j((o,n,i)=>this.drawInputs(o,n,i),{ratio:t.regression?Qt.regression:Qt.classes,label:""}),this.loss=new j((o,n,i)=>le(this,o,n,i),{ratio:.5,
label:"",most:230}),this.plane.canvas.addEventListener("click",o=>t.add(o,this.plane.canvas));let e=gt.map(o=>[o,I(o)[0]]);this.menu=new tt(
"method",e,s,o=>{this.method=o,this.shadows=[],t.again()}),this.reading=b("p",{class:"pg-reads"}),this.node=b("div",{class:"pg-pane"},b("div",
{class:"pg-head"},this.menu.node,this.reading),this.plane.node,t.planes?this.loss.node:null)}begin(){this.plane.reshape(this.world.regression?
Qt.regression:Qt.classes),this.trial=new Dt(this.world,this.method)}keep(){let{mean:t,x:s,test:e,ece:o,lambda:n}=this.trial;if(s.length<Ro)return;
let i=this.world.regression?t:t.map(a=>a-.5);this.shadows.push({field:i,x:s,test:e,ece:o,lambda:n}),this.shadows.length>Fo&&this.shadows.shift()}draw(){
this.plane.draw(),this.loss.draw()}drawInputs(t,s,e){if(this.world.regression?he(this,t,s,e):ae(this,t,s,e),!this.trial.lost)return;let o={align:"\
center",weight:700};A(t,"diverged: lower rate or radius",s/2,e/2,o)}};function Ts(r,t,s,e){let o=new Float64Array(r==="gap"?t:2*t),n=r==="gap"?new Float64Array(t):new Int32Array(t);for(let i=0;i<t;i++){let a=i%
2,h=e.uniform(),l=a?-1:1;if(r==="gap"){o[i]=a?-1.8+.8*h:.8+h,n[i]=Math.sin(2.2*o[i])+Ct*e.normal();continue}let c={moons:()=>a?[.5-1.2*Math.
cos(Math.PI*h),.35-1.2*Math.sin(Math.PI*h)]:[1.2*Math.cos(Math.PI*h)-.5,1.2*Math.sin(Math.PI*h)-.35],circles:()=>{let f=a?.6:1.5;return[f*Math.
cos(2*Math.PI*h),f*Math.sin(2*Math.PI*h)]},spiral:()=>{let f=.25+1.5*h,g=4.2*h+(a?Math.PI:0);return[f*Math.cos(g),f*Math.sin(g)]},xor:()=>{let f=e.
uniform()<.5?1:-1;return[f*(.25+1.3*h),f*l*(.25+1.3*e.uniform())]}},[p,d]=c[r]();o[2*i]=p+s*e.normal(),o[2*i+1]=d+s*e.normal(),n[i]=a}return{
x:o,y:Array.from(n),noise:r==="gap"?Ct:null}}var Co=200;function de({trial:r,world:t}){if(r.lost)return"diverged";let s=r.test.length-1,e=$(r.test[s]);if(t.regression){let{gap:i,points:a}=r.
unsure,[h,l]=[i,a].map(c=>Number(c.toPrecision(2)));return`test NLL ${e}; spread ${h} in the gap, ${l} at the points`}let o=Math.round(100*r.
right),n=$(r.axes[0].value);return`test loss ${e}, ECE ${$(r.ece[s])}, ${o} % right, λ₁ ${n}`}function fe({panes:r,steps:t,kind:s,regression:e}){
let o=r.filter(({trial:l})=>!l.lost).map(({method:l,trial:c})=>({name:I(l)[0],loss:c.test[c.test.length-1],lambda:c.lambda[c.lambda.length-1]})).
filter(({loss:l})=>Number.isFinite(l));if(t<Co||e||o.length<2)return s==="none"?" · tested on the points themselves":"";let n=o.reduce((l,c)=>c.
loss<l.loss?c:l),i=o.reduce((l,c)=>c.lambda<l.lambda?c:l),a=o.reduce((l,c)=>c.lambda>l.lambda?c:l);if(n===i)return`. ${n.name} is flatter an\
d has the lower test loss.`;let h=n===a?"its mean is the sharpest":`${i.name} is flatter`;return`. ${n.name} has the lower test loss, though\
 ${h}: flat is not all that counts.`}var Do=80,zo=121,Bo={radius:2,rho:.2,kappa:.1,rate:.1,shots:20,noise:.15},Wo=()=>Float64Array.from({length:1458},(r,t)=>{let s=t>>1;return t%
2?ht[1]*(1-2*Math.floor(s/27)/26):ht[0]*(2*(s%27)/26-1)}),zt=class{sliders={};yours=[];side=0;net="one";seed=1;draws=10;steps=0;due=0;frames=0;rounds=0;jobs=[];constructor(t={}){
let{methods:s=["vi","sabma"],planes:e=!0,autoplay:o=!0}=t;this.kind=t.kind??"spiral",this.planes=e,this.label=t.label??"a network",this.settings=
{...Bo,...t.settings},this.data=this.dataOf(),this.panes=s.map(n=>new Zt(this,n)),this.traces=new j((n,i,a)=>ce(this,n,i,a),{ratio:.16,label:"",
least:e?190:110,most:330}),this.verdict=b("p",{class:"pg-verdict",role:"status"}),this.playButton=F("Play","play or pause",()=>this.play(!this.
clock.playing),{class:"pg-play"}),this.node=this.build(),this.offer(),this.draw(),this.clock=new kt(this.panes[0].node,n=>this.frame(n)),!jt.
matches&&o&&this.play(!0)}get regression(){return this.kind==="gap"}get high(){return this.regression?40:se}build(){return b("section",{class:"\
pg-network","aria-label":this.label},b("div",{class:"pg-panes"},...this.panes.map(t=>t.node)),this.buttons(),b("div",{class:"pg-sliders"},this.
slider("radius","radius of SA-BMA",[0,.25,.5,.7,1,1.4,2,2.8,4],t=>t?`${t} × the width of q`:"0: the same as VI"),this.slider("rho","radius \
of SAM",[0,.05,.1,.2,.5,1],t=>`${t}, a distance`),this.slider("kappa","temperature",[.01,.03,.1,.3,1],t=>t===1?"1: Bayes":`${t}: colder than\
 Bayes`,"the weight of KL(q ‖ prior)")),this.verdict,this.traces.node,this.more())}buttons(){let t=F("Restart","the same run from its star\
t",()=>this.restart()),e=F("New seed","other points, other start, other noise; earlier seeds stay as shadows",()=>{for(let h of this.panes)h.
keep();this.seed+=1,this.restart()}),o=b("div",{class:"pg-row"},this.playButton,t,e);if(!this.planes)return o;let n=new tt("data",Object.entries(
ys),this.kind,h=>{this.kind=h,this.restart(!1)}),i=[["0","a circle"],["1","a square"]],a=new tt("a click adds",i,"0",h=>{this.side=Number(h)});
return o.append(n.node,a.node),o}more(){let t=Object.entries(Kt).map(([n,[i]])=>[n,i]),s=n=>{this.draws=n;for(let{trial:i}of this.panes)i.refresh(
1/0);this.draw()},e=n=>`${n} draw${n>1?"s":""}`,o=new tt("network",t,this.net,n=>{this.net=n,this.restart(!1)});return b("details",{class:"p\
g-more"},b("summary",{},"More: network, points, rate"),o.node,b("div",{class:"pg-sliders"},this.slider("rate","learning rate",[.005,.01,.02,
.05,.1]),this.slider("shots","points a class or side",[4,8,12,20,40,80]),this.slider("noise","noise of the points",[0,.1,.15,.2,.3,.5]),new Z(
"ensemble",[1,2,5,10,20,30],10,s,{say:e}).node))}slider(t,s,e,o,n){let i=(h,l)=>{this.settings[t]=h,l&&this.restart(!1)},a=new Z(s,e,this.settings[t],
i,{say:o,help:n});return this.sliders[t]=a,a.node}offer(){this.sliders.rho.node.hidden=this.panes.every(t=>t.method!=="sam"),this.sliders.noise.
node.hidden=this.regression}add(t,s){if(this.regression)return;let e=s.getBoundingClientRect();this.yours.push([ht[0]*(2*(t.clientX-e.left)/
e.width-1),ht[1]*(1-2*(t.clientY-e.top)/e.height),this.side]),this.restart(!1)}points(t,s){let{kind:e,settings:o,yours:n}=this,i=e==="none"&&
[0,1].every(h=>n.filter(l=>l[2]===h).length>1),a=Ts(e==="none"?"xor":e,i?0:t,o.noise,s);return this.regression?a:{x:Float64Array.from([...a.
x,...n.flatMap(([h,l])=>[h,l])]),y:[...a.y,...n.map(h=>h[2])],noise:a.noise}}dataOf(){let{kind:t,settings:s,seed:e}=this,o=new X(e),n=this.points(
2*s.shots,o),i=t==="none"?n:Ts(t,ee,s.noise,o),a=this.regression?Float64Array.from({length:zo},(h,l)=>-3+l/20):Wo();return{train:n,test:i,grid:a}}restart(t=!0){
if(!t)for(let s of this.panes)s.shadows=[];this.again(),this.play(!0)}again(){this.steps=0,this.jobs=[],this.data=this.dataOf(),this.offer();
for(let t of this.panes)t.begin();this.draw()}play(t){if(t&&this.steps>=xs&&this.again(),this.clock.play(t),this.playButton.textContent=t?"P\
ause":"Play",!t){for(let{trial:s}of this.panes)s.refresh(1/0),s.curve(),s.fill(23),s.score();this.draw()}}advance(){this.steps+=1;for(let{method:t,
trial:s}of this.panes)(t!=="hmc"||this.steps%2)&&s.step()}frame(t){let s=performance.now();for(this.due=Math.min(2,this.due+t*Do);this.due>=
1;this.due--)this.advance();this.frames+=1,this.jobs.length||(this.jobs=this.round()),this.jobs.shift()?.(),performance.now()-s<re&&this.jobs.
shift()?.(),this.tell(),this.steps>=xs&&this.play(!1)}round(){this.rounds+=1;let t=this.rounds%4===0,s=this.panes.filter(({trial:o})=>!o.lost),
e=s.flatMap(({trial:o,plane:n,loss:i})=>[()=>o.refresh(2),()=>n.draw(),...this.planes?[()=>o.fill(2)]:[],...t?[()=>o.score(),()=>i.draw()]:[],
...this.rounds%12===2?[()=>o.curve()]:[]]);return(t||!s.length)&&e.push(()=>this.traces.draw()),e}recolor(){this.draw()}draw(){for(let t of this.
panes)t.draw();this.traces.draw(),this.tell(!0)}tell(t=this.frames%30===0){if(!t)return;this.verdict.textContent=`Step ${this.steps}${fe(this)}`;
let s=this.panes.map(e=>{let o=I(e.method)[0],n=de(e);e.reading.textContent=n;let i=ys[this.kind]??ne;return e.plane.say(`What the ensemble \
of ${o} predicts for ${i}. ${n}.`),e.loss.say(`Training loss of ${o} on the plane of its two sharpest directions, the draws projected onto i\
t.`),`${o}: ${n}`});this.traces.say(`Against steps: ${s.join("; ")}.`)}};var ge=`.pg {
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
`;var me=24,_o=[0,17,-17,34,-34,51,-51,68],Go=(r,t)=>r[0]<t[2]&&r[2]>t[0]&&r[1]<t[3]&&r[3]>t[1];function As(r,t,s,e){let o=([n,i,a,h])=>n>=2&&
i>=2&&a<=s-2&&h<=e-2;return r.find(n=>o(n)&&!t.some(i=>Go(n,i)))??r[0]}var Mt=class{taken=[];constructor(t,s,e,o=4){this.pen=t,this.left=o,this.
width=s,this.height=e}avoid(t,s,e=7){this.taken.push([t-e,s-e,t+e,s+e])}put(t,s,e,o={}){let{size:n=13,weight:i=400,align:a="left"}=o;this.pen.
font=Ss(n,i);let h=this.pen.measureText(t).width,p={left:[s,s-h-me],center:[s-h/2],right:[s-h,s+me]}[a].map(f=>Math.max(this.left,Math.min(this.
width-h-4,f))).flatMap(f=>_o.map(g=>[f,e+g-8,f+h,e+g+8])),d=As(p,this.taken,this.width,this.height);this.taken.push(d),A(this.pen,t,d[0],d[1]+
8,{...o,align:"left"})}};var Yo=10,Ho=[0,14,26,40,56,74],Uo=[-1,0,1].flatMap(r=>[-1,0,1].map(t=>[r,t])),Vo=11,Xo=.72,Ko=.3,ue=(r,t,s)=>[r-s,t-s,r+s,t+s],$s=class{labels=[];taken=[];constructor(t,s){
this.svg=t,this.view=s}group(t){let s=Q("g",{"data-s":t});return this.svg.append(s),s}ellipse(t,{mean:s,logStd:e},o,n){let{X:i,Y:a,unit:h}=this.
view,[l,c]=[0,1].map(d=>o*Math.exp(e[d])*h),p={cx:i(s[0]),cy:a(s[1]),rx:l,ry:c};t.append(Q("ellipse",{...p,fill:"none","stroke-width":2.4,...n}))}point(t,s,e,o){
let n={cx:this.view.X(s[0]),cy:this.view.Y(s[1]),r:e};t.append(Q("circle",{...n,fill:o,stroke:E().paper,"stroke-width":1.5}))}name(t,{mean:s,
logStd:e},{widths:o,way:n,off:i},a,h){let{X:l,Y:c,unit:p}=this.view,[d,f]=[0,1].map(g=>n[g]*o*Math.exp(e[g])*p*Xo);this.labels.push({into:t,
x:l(s[0])+d+i[0],y:c(s[1])+f+i[1],text:a,color:h})}arrow(t,[s,e],[o,n],i,a="",h={}){let l=Math.hypot(o,n),c=Math.min(Vo,.6*l),[p,d]=l?[o/l,n/
l]:[0,0];for(let x=0;x<=12;x++)this.taken.push(ue(s+o*x/12,e+n*x/12,5));let f={x2:s+o-p*c*.7,y2:e+n-d*c*.7},g={stroke:i,"stroke-width":3.2,...h};
t.append(Q("line",{x1:s,y1:e,...f,...g}));let u=x=>{let[y,v]=[-d*x*.55,p*x*.55];return`${s+o-p*c+y},${e+n-d*c+v}`},m=`M${s+o},${e+n} L${u(c)}\
 L${u(-c)} Z`;if(t.append(Q("path",{d:m,fill:i})),!a)return;let w={x:s+o+9*p+(p<0?-14:2),y:e+n+14*d+5};this.labels.push({into:t,...w,text:a,
color:i})}write(t,s){for(let{into:e,x:o,y:n,text:i,color:a}of this.labels){let h=Yo*i.length,l=Ho.flatMap(p=>Uo.map(([d,f])=>[o+p*d,n+p*f])).
map(([p,d])=>[p,d-14,p+h,d+4]),c=As(l,this.taken,t,s);this.taken.push(c),e.append(Q("text",{x:c[0],y:c[3]-4,fill:a},i))}}};function we(r,{record:t,
settings:s,noise:e,after:o,plain:n},i,a){let{X:h,Y:l,width:c,height:p}=i,{from:d,g:f,there:g,worst:u}=t,m=new $s(r,i);r.setAttribute("viewBo\
x",`0 0 ${c} ${p}`),r.replaceChildren();let[w,x,y]=["sabma","vi","sam"].map(T),{ink:v}=E(),k=Math.max(et(f.mean),u?et(u.mean):0,1e-9),P=Ko*Math.
min(c,p)/k,N=S=>[S.mean[0]*P,-S.mean[1]*P],q=S=>[h(S.mean[0]),l(S.mean[1])],ot=S=>q(S).map((M,C)=>M-q(d)[C]);if(a>=2){let S=m.group("ball"),
M={stroke:y,"stroke-width":2,"stroke-dasharray":"3 6"};m.ellipse(S,d,s.radius,M),m.name(S,d,{widths:s.radius,way:[1,1],off:[6,12]},"ball",y)}
let rt=m.group("q");m.ellipse(rt,d,2,{stroke:v,fill:v,"fill-opacity":.07});for(let S of e){let[M,C]=[0,1].map(G=>d.mean[G]+Math.exp(d.logStd[G])*
S[G]);rt.append(Q("circle",{cx:h(M),cy:l(C),r:3.4,fill:v}))}if(m.point(rt,d.mean,6,v),m.name(rt,d,{widths:2,way:[-1,-1],off:[-20,-6]},"q",v),
a>=3&&g&&u){let S=m.group("worst");m.ellipse(S,g,2,{stroke:y,fill:y,"fill-opacity":.08}),m.arrow(S,q(d),ot(g),y,"Δ"),m.point(S,g.mean,5,y),
m.name(S,g,{widths:2,way:[-1,1],off:[-26,16]},"q′",y),a>=5&&Jo(m,q(g),N(f),N(u)),a>=4&&m.arrow(m.group("there"),q(g),N(u),w,"g′")}if(a>=
1&&m.arrow(m.group("g"),q(d),N(f),x,"g"),a>=6){let S=m.group("move");m.ellipse(S,o,2,{stroke:w,"stroke-dasharray":"7 4"}),m.arrow(S,q(d),ot(
n),x,"",{"stroke-width":2}),m.arrow(S,q(d),ot(o),w,"step")}for(let S of a>=3&&g?[d,g]:[d]){let[M,C]=q(S);m.taken.push(ue(M,C,9))}m.write(c,p)}
function Jo(r,[t,s],e,o){let n=r.group("diff"),i=E().truth;r.arrow(n,[t,s],e,T("vi"),"",{"stroke-dasharray":"4 5"});let a=e.map((c,p)=>o[p]-
c);r.arrow(n,[t+e[0],s+e[1]],a,i);let[h,l]=[t+(e[0]+o[0])/2-20,s+(e[1]+o[1])/2-12];r.labels.push({into:n,x:h,y:l,text:"g′ − g",color:i})}var Tt=[["q","The posterior q: a mean, and a width for each weight. The dots are the four draws of this step."],["g","g: which way the loss \
that q expects rises fastest, for the mean. It has a part for the widths too."],["ball","The ball: as far as the mean could go, were the who\
le radius spent on it. It is measured in widths of q, so it is as oblong as q, whose ellipse is drawn at two widths."],["worst","Ascend by Δ\
 to q′, the worst posterior in the ball to first order. The bar shows how the radius was spent: what the widths took, the mean did not get."],
["there","g′: the gradient at q′, with the same four draws of noise."],["diff","g′ − g: all that tells SA-BMA from VI. It points where t\
he slope grows, so stepping against it leads away from curvature."],["move","Step back to q and descend against g′ and the pull of the prior\
. The arrow is drawn at its true length; the thin blue one is the step of VI."]],Qo="F: the Fisher matrix of q itself. For a mean it is 1/wi\
dth², for the logarithm of a width 2. The step down is a natural gradient too, damped by the size of the last gradients.",Zo=["min over ",[
"q","q"]," of max over ",["worst","q′"]," in ",["ball","KL(q′ ‖ q) ≤ radius²/2"]," of E",["","q′"],"[L] + T ",["move","KL(q ‖ pri\
or)"],"",["worst","Δ"]," = ",["ball","radius"]," · F⁻¹",["g","g"]," / √(",["g","g"],"ᵀF⁻¹",["g","g"],")","",["worst","q′"]," =\
 ",["q","q"]," + ",["worst","Δ"],",  ",["there","g′"]," = ",["g","g"]," + ",["diff","(g′ − g)"],"",["q","q"]," ← ",["q","q"]," − ",
["move","rate · F⁻¹(g′ + T ∇KL)"]];function be(){let r=Zo.map(e=>{if(typeof e=="string")return e||b("br");let[o,n]=e;return o?b("spa\
n",{"data-s":o,tabindex:0,role:"button"},n):b("sub",{},n)});return b("p",{class:"pg-formula",role:"group","aria-label":"objective and step; \
point at a symbol to see its mark"},...r,b("small",{},Qo))}var ts=1.4,Es=41,Os=14;function xe({loss:r,noise:t,record:s,slope:e},o,n,i,a){let{ink:h,soft:l}=E(),{from:c,delta:p,g:d,worst:f}=s;if(A(o,"l\
oss along the ascent from q (0) to q′ (1)",2,10,{color:l,size:12.5,halo:!1}),!p||!f){let M={align:"center",halo:!1};A(o,"radius 0: no asce\
nt",n/2,i/2,M);return}let u=Array.from({length:Es},(M,C)=>C/(Es-1)*ts),m=u.map(M=>{let C=D(c.mean,p.mean,M),G=D(c.logStd,p.logStd,M);return it(
r,{mean:C,logStd:G},t).value}),w=u.map(M=>d.value+M*e),x=Math.min(...m,...w),y=Math.max(...m,...w),v=M=>8+(n-70)*M/ts,k=M=>i-22-(i-52)*(M-x)/
Math.max(y-x,1e-9),P=(M,C,G)=>{o.beginPath(),M.forEach((ho,lo)=>o.lineTo(v(u[lo]),k(ho))),o.strokeStyle=C,o.lineWidth=2.2,o.setLineDash(G),o.
stroke(),o.setLineDash([])};P(w,T("vi"),[4,5]),P(m,h,[]);let[N,q]=[w,m].map(M=>k(M[Es-1])),ot=N+(q<N?-1:1)*(Os+1);A(o,"slope g",v(ts)+6,N,{color:T(
"vi"),size:12.5});let rt=Math.abs(q-N)<Os?ot:q;A(o,"loss",v(ts)+6,rt,{size:12.5});let S=(M,C,G)=>{U(o,"circle",v(M),k(C),5,G),A(o,$(C),v(M)+
4,k(C)+Os,{size:12.5,color:G})};S(0,d.value,h),a&&S(1,f.value,T("sam"))}var tr=4,pt=121,ve=14,ye=1.12;function Se(r,t){let{loss:s}=r,e=r.runs.get("sabma")?.learner??r.learner("sabma",r.seed),o=t??J(e.q),{prior:n}=e,
{radius:i,T:a,rate:h}=r.settings,l={...e.settings,radius:i,T:a,rate:h},c=r.noise.slice(0,tr),p=Ut(s,o,Pt(2),n,c,l),d=J(p.from);qt(s,d,Pt(2),
n,c,l);let{g:f,delta:g}=p,u=g?B(f.mean,g.mean)+B(f.logStd,g.logStd):0;return{loss:s,noise:c,settings:l,record:p,after:o,plain:d,slope:u}}var Ls=({
target:r},t="")=>r instanceof Element?r.closest(`${t}[data-s]`)?.getAttribute("data-s"):void 0,ss=class{phase=0;relief=null;constructor(t){this.
world=t,this.step=Se(t.model),this.ground=new j((o,n,i)=>this.drawGround(o,n,i),{ratio:.86,label:"",least:260,most:540}),this.svg=Q("svg",{"\
aria-hidden":!0}),this.ground.node.append(this.svg),this.profile=new j((o,n,i)=>xe(this.step,o,n,i,this.phase>=3),{ratio:.5,label:"",least:180,
most:260}),this.text=b("p",{class:"pg-verdict",role:"status"});let s=Tt.map((o,n)=>n),e=o=>`${o+1} of ${Tt.length}`;this.slider=new Z("phase",
s,0,o=>this.go(o),{say:e}),this.budget=b("div",{class:"pg-budget",role:"img"}),this.node=this.build(),this.listen(),this.go(0)}build(){let t=F(
"Next","the next phase",()=>this.next(),{class:"pg-play"}),s=F("Back","the phase before",()=>this.go(Math.max(0,this.phase-1))),e=b("div",{},
be(),this.budget);return b("section",{class:"pg-step","aria-label":"one step of SA-BMA"},this.ground.node,b("div",{class:"pg-row"},t,s,this.
slider.node),this.text,b("div",{class:"pg-below"},e,this.profile.node))}listen(){let{node:t}=this;this.world.still.push(()=>this.take()),t.addEventListener(
"pointerover",s=>this.light(Ls(s))),t.addEventListener("pointerleave",()=>this.light()),t.addEventListener("focusin",s=>this.light(Ls(s))),t.
addEventListener("click",s=>{let e=Ls(s,".pg-formula ");e&&(this.reveal(e),this.light(e))})}take(t){this.step=Se(this.world.model,t),this.relief=
null,this.go(t?0:this.phase)}next(){this.phase<Tt.length-1?this.go(this.phase+1):this.take(this.step.after)}go(t){this.phase=t,this.slider.value=
t,this.text.textContent=`${t+1}. ${Tt[t][1]}`,this.recolor()}recolor(){this.ground.draw(),this.profile.draw(),this.tellBudget();let{record:t,
slope:s}=this.step,{g:e,worst:o}=t,n=$(e.value+s),i=o?`: ${$(e.value)} at q, ${$(o.value)} at q′, ${n} by the straight line of slope g`:";\
 there is none at radius 0";this.profile.say(`The loss along the ascent from q${i}.`);let a=o?`, that q′ expects ${$(o.value)}.`:"; the ra\
dius is 0, so that there is no q′.",h=`One step of SA-BMA on the ground. ${this.text.textContent}`;this.ground.say(`${h} Loss that q expec\
ts ${$(e.value)}${a}`)}reveal(t){let s=Tt.findIndex(([e])=>e===t);s>this.phase&&this.go(s)}light(t){this.node.classList.toggle("pg-some",!!t);
for(let s of this.node.querySelectorAll("[data-s]"))s.classList.toggle("pg-lit",s.getAttribute("data-s")===t)}tellBudget(){let{record:t,settings:s}=this.
step,{share:e}=t,o=this.phase<3||e===void 0;if(this.budget.hidden=o,o)return;let n=c=>`${Math.round(100*c)} %`,i=`${n(e)} of radius² went in\
to the means, ${n(1-e)} into the widths: the mean of q′ lies at √${e.toFixed(2)} = ${n(Math.sqrt(e))} of the way to the edge.`;this.budget.
setAttribute("aria-label",i);let a={style:`width:${100*e}%`},h={style:`width:${100*(1-e)}%`},l=b("div",{class:"pg-bar"},b("i",a,e>.25?"means":
""),b("b",h,e<.75?"widths":""));this.budget.replaceChildren(l,b("p",{},`Radius ${s.radius}. `,i))}view(t,s){let{record:e,settings:o}=this.step,
{from:n,there:i}=e,a=Math.max(2.1,o.radius+.3),[h,l]=[0,1].map(p=>{let d=a*Math.exp(n.logStd[p]);if(!i)return d*ye;let f=Math.abs(i.mean[p]-
n.mean[p])+2.1*Math.exp(i.logStd[p]);return Math.max(d,f)*ye}),c=Math.min(t/2/h,s/2/l);return{width:t,height:s,unit:c,X:p=>t/2+(p-n.mean[0])*
c,Y:p=>s/2-(p-n.mean[1])*c}}reliefFor({width:t,height:s,unit:e}){let o=[t,s,e].join();if(this.relief?.key===o)return this.relief;let{loss:n,
record:i}=this.step,[a,h]=i.from.mean,l=Math.round((pt-1)*s/t)+1,c=Float64Array.from({length:pt*l},(f,g)=>{let[u,m]=[Math.floor(g/pt),g%pt],
w=(m/(pt-1)-.5)*t/e,x=(u/(l-1)-.5)*s/e;return n.both([a+w,h-x],null)}),p=Math.min(...c),d=Math.max(1e-9,Math.max(...c)-p);return this.relief=
{key:o,rows:l,share:c.map(f=>(f-p)/d)},this.relief}drawGround(t,s,e){let o=this.view(s,e),{share:n,rows:i}=this.reliefFor(o);t.drawImage(St(
n,i,pt),0,0,s,e),t.strokeStyle=Y()?"rgba(255,255,255,.14)":"rgba(60,70,80,.22)",t.lineWidth=1;for(let a=1;a<ve;a++){let h=lt(n,i,pt,a/ve);ct(
t,h,i,pt,s,e)}we(this.svg,this.step,o,this.phase)}};var O=[-3,3],V=[-2,2],es=3,At={hollow:{label:"a narrow hollow before a wide meadow",start:[-1.5,.3],std:.3,T:.1,radius:1,rho:.5,rate:.05,top:1.1,
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
about:"Press on the ground to push it down or up, then play."}},ke=81,Me=121;function Te(r){let t=Gt(r),s=1/0;for(let e=0;e<ke;e++)for(let o=0;o<
Me;o++){let n=O[0]+(O[1]-O[0])*o/(Me-1),i=V[0]+(V[1]-V[0])*e/(ke-1);s=Math.min(s,t.both([n,i],null))}return{dim:2,both:(e,o)=>t.both(e,o)-s}}var $t=[.01,.02,.05,.1,.2,.3,.5,1],Is=[0,.25,.35,.5,.7,1,1.4,2,2.8,4],sr=12,er=6;function z(r,{method:t,q:s,members:e}){return W[t]?Xt(r,s):
e.reduce((o,n)=>o+r.both(n,null),0)/e.length}var Ae=(r,t,s={})=>({method:r,q:J(t.q),members:t.members(40,[]),lost:!t.finite,...s});function Ns(r,t){
let s=!1,e=()=>{let o=performance.now()+sr;for(;!s&&r.length&&performance.now()<o;)r.shift()?.();s||(r.length?setTimeout(e):t())};return setTimeout(
e),()=>{s=!0}}var os=class{constructor(t,s,{T:e,radius:o},n){this.loss=t,this.vi=[],this.sabma=[],this.ghost=null;let i=(h,l)=>()=>{let c=s(
h===this.vi?"vi":"sabma",l);c.lost||h.push({...c,...l,train:z(t,c)})},a=[...$t.map(h=>i(this.vi,{T:h,radius:0})),...Is.map(h=>i(this.sabma,{
T:e,radius:h}))];this.stop=Ns(a,()=>{this.ghost=this.find(this.sabma.find(h=>h.radius===o),s),n()})}find(t,s){if(!t)return null;let e=a=>a.train-
t.train,o=this.vi.findIndex((a,h)=>h&&e(a)*e(this.vi[h-1])<=0);if(o<1)return null;let[n,i]=[this.vi[o-1],this.vi[o]];for(let a=0;a<er;a++){let h=Math.
sqrt(n.T*i.T),l=s("vi",{T:h,radius:0}),c={...l,T:h,radius:0,train:z(this.loss,l)};e(c)*e(n)<=0?i=c:n=c}return Math.abs(e(i))<Math.abs(e(n))?
i:n}draw(t,s,e,o,{T:n,radius:i}){let a=E(),h=[["vi",this.vi,m=>m.T===n,"T"],["sabma",this.sabma,m=>m.radius===i,"radius"]];A(t,"training los\
s → against test loss ↑, each after a whole run",2,10,{color:a.soft,size:12.5,halo:!1});let l=m=>[m.train,z(o,m)],c=[...this.vi,...this.
sabma].map(l);if(!c.length)return;let p=m=>{let w=c.map(k=>k[m]),x=Math.min(...w),y=Math.max(...w),v=Math.max(.08*(y-x),.02);return[x-v,y+v]},
[d,f]=[p(0),p(1)],g=m=>44+(s-70)*(m-d[0])/(d[1]-d[0]),u=m=>e-24-(e-58)*(m-f[0])/(f[1]-f[0]);t.strokeStyle=a.line,t.beginPath(),t.moveTo(44,30),
t.lineTo(44,e-20),t.lineTo(s-4,e-20),t.stroke(),d.forEach((m,w)=>A(t,$(m),g(m),e-9,{color:a.soft,size:12,align:w?"right":"left"}));for(let m of f)
A(t,$(m),40,u(m),{color:a.soft,size:12,align:"right"});for(let[m,w,x,y]of h){let v=T(m);t.strokeStyle=t.fillStyle=v,t.lineWidth=1.6,t.beginPath();
for(let P of w)t.lineTo(g(l(P)[0]),u(l(P)[1]));t.stroke();for(let P of w){let[N,q]=l(P);t.beginPath(),t.arc(g(N),u(q),2.6,0,7),t.fill()}for(let P of w.
filter(x)){let[N,q]=l(P);U(t,I(m)[3],g(N),u(q),6,v)}let k=w.at(-1);if(k){let[P,N]=l(k);A(t,`${I(m)[0]}, larger ${y}`,Math.min(g(P)+8,s-4),u(
N)+(u(N)>e/2?14:-12),{color:v,size:12,align:g(P)>s/2?"right":"left"})}}if(this.ghost){let[m,w]=l(this.ghost);t.strokeStyle=T("vi"),t.setLineDash(
[2,3]),t.lineWidth=2,t.beginPath(),t.arc(g(m),u(w),10,0,7),t.stroke(),t.setLineDash([]),A(t,`T* = ${$(this.ghost.T)}`,g(m)+14,u(w)+4,{color:T(
"vi"),size:12})}}};function $e(r,t,s,e){let o=E(),n=e.flatMap(({values:d})=>d).filter(Number.isFinite),i=Math.min(...n),a=Math.max(...n,i+.05),
h=Math.max(12,Math.round(t/22)),l=d=>4+d*(t-8)/h,c=(s-44)/e.length,p=(t-8)/h-2;A(r,`test loss of ${e[0].values.length} seeds, a block each`,
2,10,{color:o.soft,size:12.5,halo:!1}),e.forEach(({method:d,values:f,where:g},u)=>{let m=new Array(h).fill(0),w=26+(u+1)*c;f.filter(Number.isFinite).
forEach(y=>{m[Math.min(h-1,Math.floor((y-i)/(a-i)*h))]+=1});let x=Math.min(9,(c-18)/Math.max(...m,1));r.fillStyle=T(d),m.forEach((y,v)=>{for(let k=0;k<
y;k++)r.fillRect(l(v),w-(k+1)*x,p,x-1)}),A(r,`${I(d)[0]}: ${g}`,t-4,w-c+10,{color:T(d),size:12,align:"right"}),r.fillStyle=o.line,r.fillRect(
4,w,t-8,1)}),[i,a].forEach((d,f)=>A(r,$(d),f?t-4:4,s-8,{color:o.soft,size:12,align:f?"right":"left"}))}var rs=class{x=[];stands=[];train=[];test=[];lambda=[];kl=[];lost=!1;constructor(t,s){this.method=t,this.learner=s,this.trail=[[...s.q.mean]]}step(){
this.learner.step(),this.lost=!this.learner.finite,this.lost||this.trail.push([...this.learner.q.mean])}measure(t,s,e,o){let{method:n,learner:i}=this,
{q:a,prior:h,kept:l}=i,p=at[n]&&l.length?l.slice(-o):[a.mean.slice()],d={q:J(a),members:p};this.x.push(t),this.stands.push(d),this.train.push(
z(s,{method:n,...d})),this.test.push(z(e,{method:n,...d})),this.lambda.push(Ft(s,a.mean,1)[0].value),this.kl.push(W[n]?Nt(a,h).value:NaN)}};var K=600,Ee=6,ut=20,Ps=.3,Oe=["radius","rho","T","viT","rate","draws"],ns=class{name="hollow";world=At.hollow;terms=[];settings={};start=[];giveUp=()=>{};loss=Gt(
[]);test=this.loss;seed=1;ensemble=10;steps=0;on=new Set(["vi","sabma"]);shadows=[];ends=[];shift=[Ps,0];bend=0;tally="";sweep=null;runs=new Map;constructor(t=()=>{}){
this.changed=t;let s=new X(99);this.noise=Array.from({length:30},()=>s.normals(2)),this.choose("hollow")}choose(t){this.name=t,this.world=At[t],
this.terms=this.world.terms.map(i=>({...i}));let{radius:s,rho:e,T:o,rate:n}=this.world;this.settings={radius:s,rho:e,T:o,viT:o,rate:n,draws:4},
this.start=[...this.world.start],this.shadows=[],this.reground(),this.rest(!1)}reground(){this.loss=Te(this.terms),this.retest()}retest(){this.
test=Gs(this.loss,this.shift,this.bend)}get far(){return Math.hypot(...this.shift)}along(t){return this.far?this.shift.map(s=>s/this.far*t):
[t,0]}moveTest(t,s=this.bend){this.shift=t.map(e=>Math.max(-1,Math.min(1,e))),this.bend=s,this.retest();for(let[e,o]of this.runs)o.test=o.stands.
map(n=>z(this.test,{method:e,...n}))}learner(t,s,e={}){let{radius:o,rho:n,T:i,viT:a,rate:h,draws:l}={...this.settings,...e},d={T:t==="vi"?e.
T??a:i,rate:h,momentum:0,draws:l,radius:t==="sam"?n:o},f=Math.log(this.world.std),g=Math.log(es),u={mean:Float64Array.of(0,0),logStd:Float64Array.
of(g,g)},m={mean:Float64Array.from(this.start),logStd:Float64Array.of(f,f)};return new yt(t,this.loss,u,m,d,s)}rest(t=!0){if(t&&this.steps>60)
for(let[s,e]of this.runs)this.shadow(s,e);this.steps=0,this.giveUp(),this.sweep?.stop(),this.sweep=null,this.ends=[],this.tally="",this.runs=
new Map;for(let s of gt)this.on.has(s)&&this.runs.set(s,new rs(s,this.learner(s,this.seed)));this.measure()}shadow(t,s){this.shadows.push([t,
s.trail]),this.shadows.length>80&&this.shadows.shift()}advance(t){for(let s=0;s<t&&this.steps<K;s++){this.steps+=1;for(let[e,o]of this.runs)
o.lost||e==="hmc"&&this.steps%Ee||o.step();this.steps%4===0&&this.measure()}}get over(){return this.steps>=K}measure(){for(let t of this.runs.
values())t.lost||t.measure(this.steps,this.loss,this.test,this.ensemble)}whole(t,s,e={}){let o=this.learner(t,s,e),n=t==="hmc"?K/Ee:K;for(let i=0;i<
n&&o.finite;i++)o.step();return Ae(t,o)}many(t,s,e=[{}]){this.giveUp(),this.shadows=[],this.ends=[],this.tally=`${ut} seeds run …`;let o=[],
n=e.flatMap(i=>t.flatMap(a=>Array.from({length:ut},(h,l)=>()=>{o.push({...this.whole(a,l+1,i),...i})})));this.giveUp=Ns(n,()=>{this.ends=o,this.
tally=s(o),this.changed()})}compareT(){if(this.sweep||!this.on.has("vi")||!this.on.has("sabma"))return;let{viT:t,radius:s}=this.settings,e=(o,n)=>this.
whole(o,this.seed,o==="vi"?n:{radius:n.radius});this.sweep=new os(this.loss,e,{T:t,radius:s},this.changed)}placeOf(t){let{places:s}=this.world;
return s.find(([,[e,o],n])=>Math.hypot(t[0]-e,t[1]-o)<n)?.[0]}whereIs(t){let s=this.placeOf(t),e=Float64Array.from(t),o=new Float64Array(2);
if(s?.endsWith("ridge"))return`on the ${s}`;for(let i=0;i<80;i++)this.loss.both(e,o.fill(0)),e[0]-=.05*o[0],e[1]-=.05*o[1];let n=this.placeOf(
e);return n?`in the ${n===s?"":"basin of the "}${n}`:""}counted(t){let s=new Map;for(let e of t){let o=e.lost?"diverged":this.placeOf(e.q.mean)??
"elsewhere";s.set(o,(s.get(o)??0)+1)}return[...s].sort((e,o)=>o[1]-e[1])}lossAt(t,s){let e=this.ends.filter(n=>n.method===s&&!n.lost);if(e.length)
return e.reduce((n,i)=>n+z(t,i),0)/e.length;let o=this.runs.get(s);return!o||o.lost?NaN:z(t,{method:s,...o.stands[o.stands.length-1]})}ranking(t){
return[...this.runs.keys()].map(s=>({method:s,loss:this.lossAt(t,s)})).filter(({loss:s})=>Number.isFinite(s)).sort((s,e)=>s.loss-e.loss)}get query(){
let{name:t,on:s,seed:e,shift:o,bend:n,settings:i}=this,a=Object.fromEntries(Oe.map(h=>[h,String(i[h])]));return new URLSearchParams({ground:String(
t),on:[...s].join(),...a,seed:String(e),shift:o.map(h=>Number(h.toFixed(2))).join(),bend:String(n)})}read(t,s){let e=h=>t.has(h)?Number(t.get(
h)):NaN,o=t.get("ground")??"";Object.hasOwn(At,o)&&this.choose(o);let n=(t.get("on")??"").split(",").filter(h=>gt.includes(h));n.length&&(this.
on=new Set(n));for(let h of Oe)s[h].includes(e(h))&&(this.settings[h]=e(h));Number.isInteger(e("seed"))&&(this.seed=e("seed"));let i=(t.get(
"shift")??"").split(",").map(Number),a=t.has("shift")&&i.length===2&&i.every(Number.isFinite);this.moveTest(a?i:this.shift,s.bend.includes(e(
"bend"))?e("bend"):0),this.rest(!1)}};var Et=.4,Ot=.02,wt=r=>I(r)[0],qs=(r,t)=>t.loss-r.loss<Ot?`${wt(r.method)} and ${wt(t.method)} are even`:`${wt(r.method)} wins by ${(t.loss-
r.loss).toFixed(2)}`;function is(r){let[t,s]=r.ranking(r.test);if(!t)return"";if(!s)return`Test loss of ${wt(t.method)}: ${t.loss.toFixed(2)}\
.`;let[e,o]=r.ranking(r.loss);return r.far+r.bend?`${r.over||r.ends.length?"On":"So far, on"} the test ground ${qs(t,s)}; not shifted, ${qs(
e,o)}.`:`Not shifted, ${qs(t,s)}.`}function or(r){let t=r.sweep?.ghost,{viT:s,radius:e}=r.settings,o=r.sweep?.sabma.find(a=>a.radius===e);if(!t||
!o)return"";let n=z(r.test,t)-z(r.test,o),i=`${Math.abs(n).toFixed(2)} ${n>0?"higher":"lower"}`;return`At T* = ${$(t.T)} instead of ${s}, VI\
 has SA-BMA's training loss, and its test loss is ${Math.abs(n)<Ot?"the same":i}.`}function Le(r){if(!r.steps)return"Not trained yet.";let t=[
...r.runs].filter(([,{lost:o}])=>!o).map(([o,{learner:n}])=>({name:wt(o),where:r.whereIs(n.q.mean),cost:Ks(r.loss,n.q.mean,Et)-r.loss.both(n.
q.mean,null)})),s=t.map(({name:o,cost:n})=>`${o} ${n.toFixed(2)}`).join(", "),e=[t.map(({name:o,where:n})=>n&&`${o} is ${n}`).filter(Boolean).
join(", ")+".",is(r),`Moving the mean by ${Et} the worst way raises the loss by: ${s}.`,r.over?or(r):""];for(let[o,{lost:n}]of r.runs)n&&e.push(
`${wt(o)} diverged: lower the learning rate or the radius.`);return e.filter(o=>o&&o!==".").join(" ")}var Fs=(r,t)=>r.counted(t).map(([s,e])=>`${e}\
 ${s}`).join(", ");function Ie(r){let t=e=>`${wt(e)}: ${Fs(r,r.ends.filter(o=>o.method===e))}`,s=[...r.on].map(t).join("; ");return`${ut} se\
eds of ${K} steps. ${s}. ${is(r)}`}var Ne=25,Pe=240,qe=17,Fe=[-1.2816,-.5244,0,.5244,1.2816],Re=Fe.flatMap(r=>Fe.map(t=>Float64Array.of(r,t)));function rr({loss:r},t,{q:s,prior:e,
settings:o},n){let i=O[1]-O[0];return Array.from({length:Ne},(a,h)=>{let l=O[0]+i*h/(Ne-1),c={mean:Float64Array.of(l,n),logStd:s.logStd};if(!W[t]){
let g=t==="sam"?o.radius:0,u={...o,rate:1,radius:g};return[l,-Vt(r,c.mean.slice(),new Float64Array(2),e,u).there[0]]}let p=it(r,c,Re),f=t===
"sabma"&&o.radius?it(r,us(c,p,o.radius).there,Re):p;return[l,-f.mean[0]-o.T*Nt(c,e).mean[0]]})}function Ce(r,t,s,e){let o=E(),n=r.runs.get("\
sabma")??r.runs.values().next().value;if(!n)return;let i=n.learner.q.mean[1],a=[...r.runs].filter(([d])=>!at[d]),h=e-qe*a.length-8,l=1.4*r.world.
top,c=d=>(d-O[0])/(O[1]-O[0])*s,p=d=>h-(h-40)*Math.min(1,(d+.07*l)/l);t.beginPath(),t.moveTo(0,h);for(let d=0;d<=Pe;d++){let f=O[0]+(O[1]-O[0])*
d/Pe;t.lineTo(c(f),p(r.loss.both([f,i],null)))}t.lineTo(s,h),t.fillStyle=`rgb(${o.high.join()})`,t.globalAlpha=.75,t.fill(),t.globalAlpha=1,
t.lineWidth=1.5,t.strokeStyle=o.soft,t.stroke(),A(t,"loss along w₁, cut through the mean",2,10,{color:o.soft,halo:!1}),A(t,"arrows: where \
a step moves the mean",2,26,{color:o.soft});for(let[d,{learner:f}]of r.runs){let{q:g}=f,u=T(d),m=c(g.mean[0]),w=p(r.loss.both([g.mean[0],i],
null));if(W[d]){let x=Math.exp(g.logStd[0]),y=p(Xt(r.loss,g));t.strokeStyle=u,t.lineWidth=3,t.beginPath(),t.moveTo(c(g.mean[0]-2*x),y),t.lineTo(
c(g.mean[0]+2*x),y),t.stroke(),t.lineWidth=1.3,t.beginPath(),t.moveTo(m,y),t.lineTo(m,w),t.stroke()}U(t,I(d)[3],m,w,4.5,u)}a.forEach(([d,{learner:f}],g)=>{
let u=h+14+qe*g;t.fillStyle=T(d);for(let[m,w]of rr(r,d,f,i)){let x=4*Math.tanh(Math.abs(w)*4)+1,y=Math.sign(w)*x;t.beginPath(),t.moveTo(c(m)+
y,u),t.lineTo(c(m)-y,u-x),t.lineTo(c(m)-y,u+x),t.fill()}})}function De(r,t,s,e){let o=[["loss: training thin, test thick","test",.46],["λ₁, \
sharpest curvature at the mean","lambda",.27],["KL(q ‖ prior), in nats","kl",.27]],n=0;for(let[i,a,h]of o){let c=[...r.runs].flatMap(([p,d])=>{
let f={color:T(p),x:d.x,y:d[a]};return a==="test"?[{...f,y:d.train,thin:!0},f]:[f]}).filter(p=>p.y.some(Number.isFinite));Jt(t,0,n,s,h*e-6,i,
c,{most:K}),n+=h*e}}function ze(r,t,s,e){if(r.ends.length){let n=[...new Set(r.ends.map(i=>i.method))].map(i=>{let a=r.ends.filter(l=>l.method===
i),h=a.map(l=>l.lost?NaN:z(r.test,l));return{method:i,where:Fs(r,a),values:h}});$e(t,s,e,n)}else if(r.sweep){let{viT:o,radius:n}=r.settings;
r.sweep.draw(t,s,e,r.test,{T:o,radius:n})}else A(t,"after a run: temperature beside radius",2,10,{color:E().soft,halo:!1})}var nr=.3,dt=1,bt=32,Rs=.5,ir=Object.freeze({vi:"VI",sabma:"SA-BMA"}),Be=r=>I(r)[0],We=[["yes","Yes"],["no","No"]];function je(r){let[t,s]=r.
ranking(r.test),e=s.loss-t.loss<Ot;return{first:t,second:s,winner:e?"even":t.method}}function _e(r){return{...$t.map(e=>({T:e,loss:z(r.test,
r.whole("vi",r.seed,{T:e}))})).reduce((e,o)=>o.loss<e.loss?o:e),rival:z(r.test,r.whole("sabma",r.seed))}}var as=(r,t,s,e="")=>t.filter(o=>o.
draws===s&&r.placeOf(o.q.mean)===e).length;function Ge(r,t){let s=[dt,bt].map(o=>as(r,t,o,"narrow hollow")),e=[dt,bt].map(o=>as(r,t,o,"wide \
meadow"));return`Radius ${Rs}: with ${dt} draw a step (filled) ${e[0]} of ${ut} runs end in the meadow and ${s[0]} in the hollow; with ${bt}\
 (rings) ${e[1]} and ${s[1]}. `}var Lt=[{key:"shift",title:"Shift",view:"grounds",ask:"Variational inference (VI) lowers the average loss of\
 a cloud of weights, SA-BMA that of the worst cloud within the radius. Both train on one ground, are tested on another, moved by 0.3. Which \
has the lower test loss?",guesses:[...Object.entries(ir),["even","Equal"]],set:{},then:{},truth:r=>je(r).winner,answer(r){let{first:t,second:s,
winner:e}=je(r),o=[...r.runs].map(([a,{learner:h}])=>`${Be(a)} is ${r.whereIs(h.q.mean)}`),n=`${t.loss.toFixed(2)} to ${s.loss.toFixed(2)}`;
return`${e==="even"?"They are even":`${Be(t.method)} wins`}: ${n}. ${o.join(", ")}. Try a shift of 0.`}},{key:"temperature",title:"Temperatu\
re",view:"grounds",ask:"A wide prior keeps a cloud from shrinking, and the temperature T weighs it: the larger T, the wider VI's cloud. Up t\
o now both had T = 0.1. Is there a T at which VI has SA-BMA's test loss?",guesses:We,set:{},then:{viT:nr},truth:r=>{let{loss:t,rival:s}=_e(r);
return t-s<Ot?"yes":"no"},answer(r){let{T:t,loss:s,rival:e}=_e(r),o=r.runs.get("vi"),n=o?r.whereIs(o.learner.q.mean):"",i=s-e<Ot?"as low as":
"above";return`At T = ${r.settings.viT} VI is ${n} too. Its lowest test loss over the slider, ${s.toFixed(2)} at T = ${t}, is ${i} SA-BMA's ${e.
toFixed(2)}. But this ground was made so that the difference is plain.`}},{key:"network",title:"A trained network",view:"frontier",ask:"A ne\
twork trained on rotated digits adapts to two upright ones a class; means over 40 seeds. At the same temperature SA-BMA (radius 1) is flatte\
r than VI. Is there a T at which VI has both its training loss and its curvature λ₁?",guesses:We,set:{},then:{},truth:()=>"yes",answer:()=>"\
Nearly: the line of VI along its temperature (blue) almost covers that of SA-BMA along its radius (green). At equal training loss λ₁ is 0.96\
 of VI's and the NLL 0.007 lower. Most of what the radius does here, a lower temperature does."},{key:"draws",title:"Draws",view:"grounds",ask:`\
A step averages gradients over S draws from the cloud. The ascent to the worst cloud follows their noise as well. At radius ${Rs}: with whic\
h S does SA-BMA stay out of the hollow more often?`,guesses:[["one",`S = ${dt}`],["many",`S = ${bt}`],["even","As often"]],on:["sabma"],set:{
radius:Rs,draws:dt},then:{},seeds:[{draws:dt},{draws:bt}],tell:Ge,counts:r=>[dt,bt].map(t=>({name:`S = ${t}`,value:r.ends.length?`${as(r,r.ends,
t,"wide meadow")} of ${ut}`:"–"})),truth:r=>{let[t,s]=[dt,bt].map(e=>as(r,r.ends,e,"narrow hollow"));return t<s?"one":t>s?"many":"even"},answer:r=>Ge(
r,r.ends)+"Few draws widen the cloud as a higher temperature does; with many, SA-BMA falls into the hollow as VI does. On the trained networ\
k few draws do the reverse: with 1, 8, 128 a step the radius is worth VI's T = 0.0137, 0.0211, 0.0237, from 0.03."}],Ye=(r,t)=>r.view==="fro\
ntier"||(r.seeds?t.ends.length>0:t.steps>=K);var ft={seeds:40,T:.03,vi:[[.006,.013308,1.0158,.58418,.042675,.076063,.01291,.0077517],[.01,.022048,1.3511,.56598,.035909,.061803,.0087214,
.0065766],[.015,.032973,1.6514,.5554,.03367,.047402,.0054091,.0045322],[.02,.043971,1.8783,.55011,.036256,.030927,.0030981,.0029507],[.03,.065808,
2.1927,.54699,.04311,0,0,0],[.05,.10942,2.5763,.55254,.062964,.062848,.0039081,.0036917],[.075,.16348,2.8693,.56774,.088486,.11056,.006941,.0051976],
[.1,.21667,3.0677,.58631,.11308,.14151,.00908,.0064426]],sabma:[[0,.065808,2.1927,.54699,.04311,0,0,0],[.5,.055361,2.0196,.54416,.03901,.020374,
89114e-8,.0019212],[1,.046795,1.8443,.54244,.036838,.037138,.001756,.0029713],[2,.034217,1.5546,.54231,.033359,.061681,.0035037,.0046419]]};var ar=[{title:"curvature λ₁",at:2,ticks:[1,1.5,2,2.5,3]},{title:"NLL on test digits",at:3,ticks:[.54,.55,.56,.57,.58]},{title:"ECE on te\
st digits",at:4,ticks:[.04,.06,.08,.1]}],hr=[.02,.05,.1,.2],lr=2*Math.PI,cr=3,He=4,Ve={T:ft.vi.map(([r])=>r),radius:ft.sabma.map(([r])=>r)},
It=(r,t)=>ft[r].find(([s])=>s===t)??ft[r][0],Ue=(r,t=!1)=>{let s=i=>t?Math.log(i):i,e=Math.min(...r.map(s)),o=Math.max(...r.map(s)),n=.09*(o-
e);return i=>(s(i)-e+n)/(o-e+2*n)},hs=class{T=ft.T;radius=1;open=!1;constructor(){this.board=new j((t,s,e)=>this.draw(t,s,e),{ratio:.36,label:"",
least:276}),this.message=b("p",{class:"pg-message"}),this.node=b("div",{class:"pg-frontier"},this.message,this.board.node)}show(t){Object.assign(
this,t);let{T:s,seeds:e}=ft,o=this.open?"A lower temperature does most of what the radius does.":"",n=`95 % bars: difference from VI, T = ${s}`;
this.message.replaceChildren(b("b",{},o),` ${e} seeds; ${n}.`),this.board.draw(),this.board.say(this.sentence())}sentence(){let t=([,,s,e])=>`\
λ₁ ${s.toFixed(2)}, NLL ${e.toFixed(3)}`;return`SA-BMA at radius ${this.radius}: ${t(It("sabma",this.radius))}. VI at T = ${this.T}: ${t(
It("vi",this.T))}.`}draw(t,s,e){let o=ar.slice(0,s<520?1:s<800?2:3),n=s/o.length;o.forEach((i,a)=>this.drawPanel(t,i,a*n,n,e))}drawPanel(t,s,e,o,n){
let i=E(),{vi:a,sabma:h}=ft,l=[...a,...h],c=Ue(l.map(S=>S[1]),!0),p=S=>[-1,0,1].map(M=>S[s.at]+M*S[s.at+cr]),d=Ue(l.flatMap(p)),[f,g,u,m]=[e+
40,e+o-14,38,n-42],w=S=>f+(g-f)*c(S[1]),x=S=>m-(m-u)*d(S),y=S=>x(S[s.at]),v=S=>{let[M,C,G]=p(S).map(x);return{x:w(S),y:C,low:M,high:G}},k=new Mt(
t,e+o,m,f);for(let S of s.ticks){let M=x(S);M<u||M>m||(t.lineWidth=1,t.strokeStyle=i.line,t.beginPath(),t.moveTo(f,M),t.lineTo(g,M),t.stroke(),
A(t,String(S),f-6,M,{color:i.soft,size:12,align:"right"}))}for(let S of hr){let M=f+(g-f)*c(S);M<f||A(t,String(S),M,m+14,{color:i.soft,size:12,
align:"center"})}A(t,s.title,f,14,{weight:600,size:14,halo:!1}),A(t,"training loss (nats)",(f+g)/2,m+31,{color:i.soft,size:12.5,align:"cente\
r"}),this.open&&this.line(t,a,v,"vi",k),this.line(t,h,v,"sabma",k);let[N,q]=[It("vi",this.T),It("sabma",this.radius)];U(t,"square",w(N),y(N),
7,T("vi")),U(t,"circle",w(q),y(q),7,T("sabma"));let ot={weight:700,size:14};k.put(`SA-BMA, radius ${this.radius}`,w(q)+12,y(q)+20,{...ot,color:T(
"sabma")});let rt={...ot,color:T("vi"),align:"right"};if(k.put(`VI, T = ${this.T}`,w(N)-10,y(N)-20,rt),!!this.open)for(let S of[a[0],a[a.length-
1]]){let{x:M,high:C}=v(S),G={color:T("vi"),align:"center"};S[0]!==this.T&&k.put(`T = ${S[0]}`,M,C-14,G)}}line(t,s,e,o,n){let i=s.map(e);t.strokeStyle=
t.fillStyle=T(o),t.lineWidth=o==="vi"?2:3.2,t.setLineDash(o==="vi"?[7,5]:[]),t.beginPath();for(let{x:a,y:h}of i)t.lineTo(a,h);t.stroke(),t.setLineDash(
[]),t.lineWidth=1.5,i.forEach(({x:a,y:h,low:l,high:c},p)=>{t.beginPath(),t.arc(a,h,3,0,lr),t.fill(),t.beginPath(),t.moveTo(a,l),t.lineTo(a,c);
for(let f of[l,c])t.moveTo(a-He,f),t.lineTo(a+He,f),n.avoid(a,f,5);t.stroke();let d=i[Math.max(0,p-1)];for(let f of[.25,.5,.75,1])n.avoid(d.
x+f*(a-d.x),d.y+f*(h-d.y),4)})}get numbers(){return[{method:"vi",row:It("vi",this.T)},{method:"sabma",row:It("sabma",this.radius)}].map(({method:t,
row:s})=>({method:t,nll:$(s[3]),lambda:$(s[2])}))}};var H=181,st=121,Xe=14;function Bt(r,t){let s=r.getBoundingClientRect();return[O[0]+(t.clientX-s.left)/s.width*(O[1]-O[0]),V[1]-(t.clientY-s.
top)/s.height*(V[1]-V[0])]}var ls=class{loss=null;top=1;relief=null;density=null;constructor(t){let s=(e,o,n)=>{let{loss:i}=this;if(!i)return;
let a=o/(O[1]-O[0]),h=this.relief,l=h?.width===o&&h.height===n&&h.dark===Y();this.relief=l?h:this.reliefFor(i,o,n),e.drawImage(this.relief.whole,
0,0,o,n),t(e,d=>(d-O[0])*a,d=>(V[1]-d)*a,a,n)};this.board=new j(s,{ratio:2/3,label:""})}lay(t,s){this.loss=t,this.top=s,this.relief=null,this.
density=null}reliefFor(t,s,e){let o=Y(),[n,i,a]=o?[.45,.6,4]:[.22,.14,1.7],h=Je(t),l=Math.min(...h),c=h.map(x=>{let y=(x-l)/this.top;return y<
1?.75*y:1-.25/y}),p=(x,y)=>c[x*H+y],d=St(c,st,H,(x,y)=>{let v=p(x,Math.min(H-1,y+1))-p(x,Math.max(0,y-1)),k=p(Math.min(st-1,x+1),y)-p(Math.max(
0,x-1),y);return Math.max(-n,Math.min(i,a*(-v-k)))}),{dense:f}=this.board,[g,u]=[s*f,e*f],m=b("canvas",{width:g,height:u}),w=nt(m);w.imageSmoothingQuality=
"high",w.drawImage(d,0,0,g,u),w.scale(g/(H-1),u/(st-1)),w.strokeStyle=o?"rgba(190,225,235,.28)":"rgba(60,70,80,.2)";for(let x=1;x<=Xe;x++){w.
lineWidth=(H-1)/s*(x%4?.8:1.4);let y=lt(c,st,H,x/(Xe+1));ct(w,y,st,H,H-1,st-1)}return{whole:m,width:s,height:e,dark:o}}drawMass(t,s,e,o,n){this.
loss&&(this.density??=pr(this.loss,o,n),t.strokeStyle=E().truth,this.density.forEach((i,a)=>{t.lineWidth=a?1.4:2.4,ct(t,i,st,H,s,e)}))}},Ke=r=>[
O[0]+r%H/(H-1)*(O[1]-O[0]),V[1]-Math.floor(r/H)/(st-1)*(V[1]-V[0])],Je=r=>Float64Array.from({length:st*H},(t,s)=>r.both(Ke(s),null));function pr(r,t,s){
let e=Je(r),o=Math.min(...e),n=e.map((h,l)=>{let[c,p]=Ke(l);return Math.exp(-(h-o)/t-.5*(c*c+p*p)/s**2)}),i=Array.from(n).sort((h,l)=>l-h),a=i.
reduce((h,l)=>h+l,0);return[.5,.95].map(h=>{let l=0,c=i.find(p=>(l+=p)>=h*a)??0;return lt(n,st,H,c)})}var dr=44,Qe=.1,fr={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,.1],ArrowDown:[0,-.1]},xt={width:.32,reach:.16,first:.1,more:.06,most:1.5},
Ze=(r,[t,s])=>Math.max(t+Qe,Math.min(s-Qe,r)),to=r=>t=>{let s=fr[t.key];s&&(t.preventDefault(),r(s))};function so(r){let{canvas:t}=r.training.
board,{model:s}=r,e=!1,o=a=>{let[h,l]=Bt(t,a),c=r.training.board.width/(O[1]-O[0]),p=[...s.runs.values()].map(d=>d.learner.q.mean);return[s.
start,...p].some(([d,f])=>Math.hypot(h-d,l-f)*c<dr)},n=a=>{let h=Bt(t,a);r.tool==="start"?s.start=[Ze(h[0],O),Ze(h[1],V)]:(gr(s,h,r.tool==="\
down"?1:-1),r.training.lay(s.loss,s.world.top),r.testing.lay(s.test,s.world.top)),s.rest(!1),r.shown()},i=a=>r.tool==="start"&&!o(a);t.addEventListener(
"touchstart",a=>{i(a.touches[0])||a.preventDefault()},{passive:!1}),t.addEventListener("pointerdown",a=>{a.pointerType==="touch"&&i(a)||(e=!0,
t.setPointerCapture(a.pointerId),r.play(!1),n(a))}),t.addEventListener("pointermove",a=>{e&&n(a)});for(let a of["pointerup","pointercancel"])
t.addEventListener(a,()=>{e&&(e=!1,r.again(!1))})}function eo(r){let{canvas:t}=r.testing.board,s=null;t.addEventListener("pointerdown",e=>{s=
Bt(t,e).map((o,n)=>o-r.model.shift[n]),t.setPointerCapture(e.pointerId)}),t.addEventListener("pointermove",e=>{let o=s;o&&r.moveTest(Bt(t,e).
map((n,i)=>n-o[i]))});for(let e of["pointerup","pointercancel"])t.addEventListener(e,()=>{s=null})}function gr(r,[t,s],e){let n=r.terms.filter(
i=>i.kind==="dent").find(({at:i,width:a})=>a===xt.width&&Math.hypot(i[0]-t,i[1]-s)<xt.reach);n?n.depth=Math.max(-xt.most,Math.min(xt.most,n.
depth+xt.more*e)):r.terms.push({kind:"dent",at:[t,s],depth:xt.first*e,width:xt.width}),r.reground()}var Wt=2*Math.PI,cs=class{constructor(t,s,e,o,n){this.pen=t,this.X=s,this.Y=e,this.unit=o,this.width=o*(O[1]-O[0]),this.height=n,this.labels=
new Mt(t,this.width,n)}title(t){this.labels.put(t,10,16,{weight:700,size:14})}outline({mean:t,logStd:s},e=[0]){let{pen:o,unit:n}=this,[i,a]=[
0,1].map(h=>2*Math.exp(s[h])*n);o.setLineDash(e.length>1?e:[]),o.beginPath(),o.ellipse(this.X(t[0]),this.Y(t[1]),i,a,0,0,Wt),o.stroke(),o.setLineDash(
[])}cloud(t){let{pen:s}=this;s.lineWidth=2,this.outline(t),s.globalAlpha=.16,s.fill(),s.globalAlpha=1}dot(t,s,e=2.4){this.pen.beginPath(),this.
pen.arc(this.X(t),this.Y(s),e,0,Wt),this.pen.fill()}line(t,s){let{pen:e,X:o,Y:n}=this;e.beginPath(),e.moveTo(o(t[0]),n(t[1])),e.lineTo(o(s[0]),
n(s[1])),e.stroke()}trail(t,s,e){let{pen:o,X:n,Y:i}=this;o.globalAlpha=e,o.strokeStyle=o.fillStyle=s,o.lineWidth=1.6,o.beginPath();for(let h of t)
o.lineTo(n(h[0]),i(h[1]));o.stroke();let a=t[t.length-1];o.globalAlpha=Math.min(1,2*e),this.dot(a[0],a[1],3),o.globalAlpha=1}ends(t){let{pen:s,
X:e,Y:o}=this;s.globalAlpha=.6;for(let{method:n,q:i,lost:a,draws:h}of t.ends){if(a)continue;let[l,c]=[e(i.mean[0]),o(i.mean[1])];h&&h>1?this.
ring(l,c,T(n)):U(s,I(n)[3],l,c,4.5,T(n))}return s.globalAlpha=1,t.ends.length>0}ring(t,s,e){let{pen:o}=this;o.strokeStyle=e,o.lineWidth=2,o.
beginPath(),o.arc(t,s,5,0,Wt),o.stroke()}places(t,s=[0,0]){for(let[e,o,n]of t.world.places){let i=Math.min(this.height-14,this.Y(o[1]+s[1]-n)+
6);this.labels.put(e,this.X(o[0]+s[0]),i,{color:E().soft,align:"center"})}}means(t,s){let e=[...t.runs].filter(([,n])=>!n.lost),o=({learner:n})=>{
let[i,a]=n.q.mean;return[this.X(i),this.Y(a)]};for(let[,n]of e){let[i,a]=o(n);this.labels.avoid(i,a)}if(!(e.length>3))for(let[n,i]of e){let[
a,h]=o(i),l={color:T(n),weight:700,size:14};this.labels.put(s(n,i),a+12,h-17,l)}}run(t,s,{learner:e,trail:o}){let{pen:n}=this,i=T(s),{q:a,last:h}=e;
at[s]?(this.trail(o.slice(-160),i,s==="hmc"?.08:.3),h&&"path"in h&&h.path&&this.trail(h.path,i,.4)):this.trail(o,i,.75),n.fillStyle=n.strokeStyle=
i,W[s]&&this.cloud(a);let l=h&&"delta"in h?h.there:null;if(l&&this.worst(a,l,i),h&&"e"in h&&h.e&&!t.over&&this.ascent(h.from,h.e,t.settings.
rho),W[s]||at[s]){n.fillStyle=i,n.globalAlpha=.8;for(let c of e.members(t.ensemble,t.noise))this.dot(c[0],c[1]);n.globalAlpha=1}U(n,I(s)[3],
this.X(a.mean[0]),this.Y(a.mean[1]),5.5,i)}worst(t,s,e){let{pen:o,X:n,Y:i,unit:a}=this;o.lineWidth=1.4,this.outline(s,[4,4]),this.line(t.mean,
s.mean);let h=i(s.mean[1])-2*Math.exp(s.logStd[1])*a-11,l=a<80?"worst q′":"q′, worst in the radius";this.labels.put(l,n(s.mean[0]),h,{color:e,
size:12.5,align:"center"})}ascent(t,s,e){let{pen:o,X:n,Y:i,unit:a}=this;o.lineWidth=1.5,o.setLineDash([4,4]),o.beginPath(),o.arc(n(t[0]),i(t[1]),
e*a,0,Wt),o.stroke(),o.setLineDash([]),this.line(t,[t[0]+s[0],t[1]+s[1]])}};function oo(r,t,s){let{pen:e,labels:o,width:n,height:i,unit:a}=r,
h=E();s&&s.drawMass(e,n,i,t.settings.T,es);for(let[l,c]of t.shadows)r.trail(c,T(l),.22);if(r.title("training ground"),!r.ends(t)){for(let[l,
c]of t.runs)r.run(t,l,c);r.means(t,l=>I(l)[0])}s&&o.put("true posterior: 50 % and 95 % of its mass",n-8,i-14,{color:h.truth,weight:600,align:"\
right"}),r.places(t),e.strokeStyle=h.soft,e.lineWidth=2,e.beginPath(),e.moveTo(12,i-14),e.lineTo(12+Et*a,i-14),e.stroke(),o.put(`${Et}`,18+Et*
a,i-14,{color:h.soft,size:12.5})}function ro(r,t){let{pen:s,X:e,Y:o,labels:n,height:i}=r,a=E();if(r.title("test ground"),t.far>.05){let[h,l]=t.
shift,[c,p]=t.world.places[0]?.[1]??[0,0];s.strokeStyle=s.fillStyle=a.soft,s.lineWidth=2,s.beginPath(),s.moveTo(e(c),o(p)+26),s.lineTo(e(c+h),
o(p+l)+26),s.stroke(),s.beginPath(),s.arc(e(c+h),o(p+l)+26,3.5,0,Wt),s.fill();let d=t.bend?`, bent by ${t.bend}`:"",f=`moved by ${$(t.far)}${d}`;
n.put(f,10,i-14,{color:a.soft,size:12.5})}if(r.ends(t)){r.places(t,t.shift);return}for(let[h,l]of t.runs){if(l.lost)continue;let{q:c,members:p}=l.
stands[l.stands.length-1],d=T(h);if(s.fillStyle=s.strokeStyle=d,W[h])r.cloud(c);else for(let f of p)r.dot(f[0],f[1]);U(s,I(h)[3],e(c.mean[0]),
o(c.mean[1]),5.5,d)}r.means(t,(h,l)=>l.test[l.test.length-1].toFixed(2)),r.places(t,t.shift)}var ps={shift:[0,.1,.2,.3,.4,.6,.8,1],bend:[0,.1,.2,.4],radius:Is,viT:$t,T:$t,rho:[0,.05,.1,.2,.3,.5,.8,1.2],rate:[.01,.02,.05,.1,.2],draws:[
1,2,4,8,16,32],ensemble:[1,2,5,10,20,30]},mr={gd:"",sam:"SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",vi:"\
VI: variational inference, lowers the average loss under a Gaussian q",sabma:"SA-BMA: sharpness-aware Bayesian model averaging, lowers the l\
oss of the worst q′ within the radius of q",sgld:"SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",hmc:"\
HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior"},ds=class{sliders={};constructor(t,s){this.world=t;
let{model:e}=t;this.playButton=F("Play","play or pause",()=>t.play(!t.clock.playing),{class:"pg-play"}),this.chips=b("div",{class:"pg-chips",
role:"group","aria-label":"methods"});for(let h of gt){let l=F("",`show or hide ${I(h)[0]}`,()=>t.toggle(h),{"data-method":h});l.append(b("i",
{"aria-hidden":"true"}),I(h)[0]),this.chips.append(l)}let o=Object.entries(At).map(([h,l])=>[h,l.label]);this.ground=new tt("ground",o,"holl\
ow",h=>t.choose(h)),this.tools=this.toggles("what the pointer does","tool",[["down","push down"],["up","push up"],["start","move q"]]),this.
sides=this.toggles("which ground is shown","side",[["training","training ground"],["test","test ground"]]),this.score=b("div",{class:"pg-sco\
re",role:"group","aria-label":"losses"}),this.verdict=b("p",{class:"pg-verdict",role:"status"}),this.about=b("p",{class:"pg-about"}),this.names=
b("p",{class:"pg-about"}),this.truthButton=F("True posterior","the posterior, computed on a grid",()=>{t.truth=!t.truth,t.shown(!0)});let n=(h,l,c)=>b(
"div",{class:"pg-grip",tabindex:0,role:"group","aria-label":l,onkeydown:to(c)},h.node);this.maps=b("div",{class:"pg-maps","data-side":"train\
ing"},n(t.training.board,"the training ground; arrow keys move the place where training starts",([h,l])=>t.moveStart(h,l)),n(t.testing.board,
"the test ground; arrow keys shift it",h=>t.moveTest(e.shift.map((l,c)=>l+h[c])))),this.first=b("div",{class:"pg-first"},this.keep("shift","\
shift of the test ground",h=>t.moveTest(e.along(h)),$),this.slider("radius","radius of SA-BMA",h=>h?`${h} × the width of q`:"0: as VI","how\
 far from q SA-BMA looks for the worst posterior, √(2 KL)"),this.slider("viT","temperature of VI",h=>`T = ${h}`,"the weight of KL(q ‖ prio\
r)")),this.others=b("div",{class:"pg-sliders"},this.slider("T","temperature of the others",h=>`T = ${h}`),this.slider("rho","radius of SAM",
h=>`${h}, a distance`),this.slider("rate","learning rate"),this.keep("ensemble","ensemble",h=>t.average(h),h=>Bs(h,"draw")),this.keep("bend",
"bend of the test ground",h=>t.moveTest(e.shift,h)),this.slider("draws","draws a step",h=>`S = ${h}`,"of which a step averages gradients")),
this.found=this.foundSliders();let i=F("Link","copy a link to what is shown",()=>t.share(i)),a=[i,F("PNG","save both grounds as a picture",()=>t.
picture())];this.more=b("details",{class:"pg-more"},b("summary",{},"More: methods, settings, seeds"),this.verdict,b("div",{class:"pg-row"},F(
"Step","one step of every method",()=>{t.play(!1),t.advance(1)}),F("20 seeds","20 runs of each method",()=>t.many()),this.truthButton,...s?a:
[]),this.chips,this.names,this.others,b("div",{class:"pg-boards"},t.section.node,t.traces.node,t.chart.node),b("div",{class:"pg-under"},this.
ground.node,this.tools,this.about)),this.node=b("section",{class:"pg-world","aria-label":"two weights"},t.sequence.node,this.sides,this.maps,
t.frontier.node,this.score,this.first,this.found,b("div",{class:"pg-row pg-run"},this.playButton,F("Restart","the same run from its start",()=>t.
train()),F("New seed","other noise; the last runs stay as shadows",()=>{e.seed+=1,t.train()})),this.more)}slider(t,s,e=String,o=""){let{world:n}=this,
i=(a,h)=>{n.model.settings[t]=a,this.side("training"),h?n.train():(n.model.rest(),n.draw())};return this.keep(t,s,i,e,o)}keep(t,s,e,o=String,n=""){
let i=new Z(s,ps[t],ps[t][0],e,{say:o,help:n});return this.sliders[t]=i,i.node}toggles(t,s,e){let{world:o}=this,n=i=>{s==="side"?this.side(i):
o.tool=i,this.tell()};return b("div",{class:`pg-tools pg-${s}s`,role:"group","aria-label":t},...e.map(([i,a])=>F(a,a,()=>n(i),{[`data-${s}`]:i})))}foundSliders(){
let{world:t}=this,s=(e,o,n)=>new Z(o,Ve[e],t.frontier[e],i=>{t.frontier.show({[e]:i}),t.tellScore()},{say:n}).node;return b("div",{class:"pg\
-first pg-found"},s("radius","radius on the trained network",e=>e?String(e):"0: as VI"),s("T","temperature on the trained network",e=>`T = ${e}`))}side(t){
this.maps.dataset.side=t;for(let s of mt(this.sides))s.setAttribute("aria-pressed",String(s.dataset.side===t))}show(t){let s=t.view==="front\
ier";for(let e of[this.maps,this.sides,this.first])e.hidden=s;for(let e of[this.world.frontier.node,this.found])e.hidden=!s;(t.key==="draws"?
this.first:this.others).append(this.sliders.draws.node),this.side("training")}tell(){let{model:t,tool:s,truth:e}=this.world;for(let a of mt(
this.chips)){let{method:h=""}=a.dataset;a.setAttribute("aria-pressed",String(t.on.has(h))),a.style.setProperty("--method",T(h))}for(let a of mt(
this.tools))a.setAttribute("aria-pressed",String(a.dataset.tool===s));this.tools.hidden=t.name!=="yours",this.truthButton.setAttribute("aria\
-pressed",String(e)),this.ground.select.value=t.name;let{sliders:o}=this;for(let[a,h]of Object.entries(t.settings))o[a].value=h;o.bend.value=
t.bend,o.ensemble.value=t.ensemble,o.shift.value=t.far,o.shift.text.textContent=$(t.far),o.rho.node.hidden=!t.on.has("sam"),o.radius.node.hidden=
!t.on.has("sabma"),o.viT.node.hidden=!t.on.has("vi"),this.about.textContent=t.world.about;let n=[...t.on].some(a=>W[a])?"q: a method's cloud\
 of weights":"",i=[...[...t.on].map(a=>mr[a]),n].filter(Boolean);this.names.textContent=`${i.join(". ")}.`}};function Cs(r,t,s,e,o=!1){return b("div",{style:`--method:${T(r)}`,class:o?"pg-wins":""},b("span",{},t),b("b",{},s),b("small",{},e[0],b("br"),
e[1]))}var no=r=>Number.isFinite(r)?r.toFixed(2):"–";function io({model:r,frontier:t,sequence:{card:s}}){if(s.view==="frontier")return t.numbers.
map(({method:n,nll:i,lambda:a})=>Cs(n,I(n)[0],a,["curvature λ₁",`test NLL ${i}`]));if(s.counts&&(r.ends.length||!r.steps))return s.counts(
r).map(({name:n,value:i})=>Cs("sabma",n,i,["runs end","in the meadow"]));let o=r.steps||r.ends.length?r.ranking(r.test)[0]?.method:"";return[
...r.runs.keys()].map(n=>{let i=no(r.lossAt(r.test,n)),a=`training ${no(r.lossAt(r.loss,n))}`;return Cs(n,I(n)[0],i,["test loss",a],o===n)})}var fs=class{at=0;guess="";told=!1;constructor(t){this.world=t,this.steps=b("div",{class:"pg-steps",role:"group","aria-label":"questions"},...Lt.
map((n,i)=>F(`${i+1} ${n.title}`,n.title,()=>this.go(i)))),this.ask=b("p",{class:"pg-ask"}),this.guesses=b("div",{class:"pg-guess",role:"gro\
up","aria-label":"your guess"}),this.answer=b("p",{class:"pg-answer",role:"status"}),this.next=F("Next →","the next question",()=>this.go(
this.at+1),{class:"pg-next"});let s=b("div",{},this.steps,this.ask),e=b("div",{class:"pg-choose"},this.guesses,this.next),o=b("div",{class:"\
pg-reply"},e,this.answer);this.node=b("div",{class:"pg-card"},s,o)}get card(){return Lt[this.at]}go(t){this.at=t,this.guess="",this.told=!1,
this.world.begin(this.card),this.show()}show(){let{card:t}=this;[...this.steps.children].forEach((s,e)=>{e===this.at?s.setAttribute("aria-cu\
rrent","step"):s.removeAttribute("aria-current")}),this.ask.textContent=t.ask,this.guesses.replaceChildren(...t.guesses.map(([s,e])=>F(e,`gu\
ess: ${e}`,()=>this.take(s),{"data-guess":s}))),this.answer.textContent="Your guess?",this.next.hidden=!0}take(t){this.guess=t,this.told=!1;
for(let s of mt(this.guesses))s.setAttribute("aria-pressed",String(s.dataset.guess===t));this.answer.textContent="They train …",this.world.
run(this.card),this.tell()}tell(){let{card:t,world:s}=this;if(!this.guess||this.told||!Ye(t,s.model))return;this.told=!0;let e=t.truth(s.model)===
this.guess;this.answer.replaceChildren(b("b",{},e?"You guessed right. ":"Not quite. "),t.answer(s.model));for(let o of mt(this.guesses))o.classList.
toggle("pg-right",o.dataset.guess===t.truth(s.model));this.next.hidden=this.at===Lt.length-1,t.view==="grounds"&&s.side("test")}};var ur=150,wr=6,br=2e3,gs=class{tool="start";truth=!1;due=0;frames=0;still=[];constructor(t={}){this.model=new ns(()=>this.shown(!0));let s=o=>new ls(
(n,i,a,h,l)=>o(new cs(n,i,a,h,l)));this.training=s(o=>oo(o,this.model,this.truth?this.training:null)),this.testing=s(o=>ro(o,this.model));let e=(o,n=.8)=>new j(
(i,a,h)=>o(this.model,i,a,h),{ratio:n,label:"",least:230,most:300});this.section=e(Ce,.56),this.traces=e(De),this.chart=e(ze),this.frontier=
new hs,this.sequence=new fs(this),this.panel=new ds(this,t.link!==!1),this.node=this.panel.node,so(this),eo(this),this.lay(),t.link!==!1&&this.
read(new URLSearchParams(location.search)),this.clock=new kt(this.training.board.node,o=>this.frame(o)),this.sequence.show(),this.begin(Lt[0],
!1)}side(t){this.panel.side(t)}begin(t,s=!0){let e=t.view==="frontier";this.play(!1),this.panel.show(t),s&&!e&&(this.model.seed=1,this.model.
on=new Set(t.on??["vi","sabma"]),this.model.choose("hollow"),Object.assign(this.model.settings,t.set),this.model.moveTest([Ps,0],0),this.lay()),
e&&this.frontier.show({open:!1,radius:1}),this.again(!1)}run(t){if(t.view==="frontier")this.frontier.show({open:!0});else if(t.seeds){let s=e=>t.
tell?.(this.model,e)??"";this.model.many(["sabma"],s,t.seeds)}else Object.assign(this.model.settings,t.then),this.train();this.tell()}choose(t){
this.model.choose(t),this.lay(),this.train()}lay(){let{model:t}=this;this.training.lay(t.loss,t.world.top),this.testing.lay(t.test,t.world.top),
this.tool=t.name==="yours"?"down":"start"}read(t){t.size&&(this.model.read(t,ps),this.lay())}moveTest(t,s=this.model.bend){this.model.moveTest(
t,s),this.testing.lay(this.model.test,this.model.world.top),this.side("test"),this.shown(!0)}moveStart(t,s){this.play(!1);let{start:e}=this.
model;this.tool==="start"&&(this.model.start=[e[0]+t,e[1]+s]),this.again(!1)}average(t){this.model.ensemble=t,this.shown(!0)}toggle(t){let{on:s}=this.
model;s.has(t)&&s.size===1||(s.has(t)?s.delete(t):s.add(t),this.train())}play(t){if(t&&this.model.over&&this.model.rest(),this.clock?.play(t),
this.panel.playButton.textContent=t?"Pause":"Play",this.tell(),!t){for(let s of this.still)s(this);this.model.over&&this.model.compareT()}}train(){
this.again(),jt.matches?(this.model.advance(K),this.play(!1),this.shown(!0)):this.play(!0)}again(t=!0){this.model.rest(t),this.training.density=
null,this.shown(!0);for(let s of this.still)s(this)}advance(t){this.model.advance(t),this.shown()}frame(t){this.due+=t*ur;let s=Math.min(wr,
Math.floor(this.due));this.due=Math.min(1,this.due-s),s&&this.advance(s),this.model.over&&(this.play(!1),this.shown(!0))}many(){this.play(!1),
this.model.many([...this.model.on],()=>Ie(this.model)),this.shown(!0)}recolor(){this.tell(),this.draw(!0),this.frontier.board.draw()}draw(t=!this.
clock?.playing){this.frames+=1,this.training.board.draw(),this.testing.board.draw(),this.panel.more.open&&((t||this.frames%3===1)&&this.section.
draw(),(t||this.frames%6===0)&&(this.traces.draw(),this.chart.draw()))}shown(t=!1){let{model:s}=this;if(this.draw(),this.clock?.playing||this.
tell(),(t||s.steps%4===0)&&this.tellScore(),!(t||!this.clock?.playing||s.steps%12===0))return;let e=s.tally||Le(s);this.panel.verdict.textContent=
e,this.training.board.say(`${s.world.label}, seen from above. ${e}`);let o=`the training ground shifted by ${$(s.far)}`,n=s.bend?` and bent \
by ${s.bend}`:"";this.testing.board.say(`The test ground: ${o}${n}. ${is(s)}`),this.section.say("Section of the ground through a mean, with \
the posteriors above it."),this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${e}`),this.chart.say(`After a run: test l\
osses over temperature, radius or seeds. ${e}`),this.sequence.tell()}tell(){this.panel.tell()}tellScore(){this.panel.score.replaceChildren(...io(
this))}share(t){let s=new URL(`?${this.model.query}`,location.href).href;history.replaceState(null,"",`?${this.model.query}${location.hash}`);
let e=n=>{t.textContent=n},o=navigator.clipboard?.writeText(s);Promise.resolve(o).then(()=>e("Copied"),()=>e("In the address")),setTimeout(()=>e(
"Link"),br)}picture(){let s=[this.training.board,this.testing.board].map(({canvas:i})=>i).filter(i=>i.checkVisibility()),e=s.reduce((i,a)=>i+
a.width,0),o=b("canvas",{width:e,height:s[0].height}),n=0;for(let i of s)nt(o).drawImage(i,n,0),n+=i.width;Ws(o.toDataURL("image/png"),`flat\
viz-${this.model.name}.png`)}};var xr=["weights","step","network","gap"],vr=50,yr={kind:"gap",label:"a regression with a gap",methods:["vi","sabma","hmc"],planes:!1,settings:{
radius:1,kappa:1}},Sr="The next step of SA-BMA's cloud on the ground above, once its run rests.",kr="The same two methods train a network. W\
here it is flat, the rings of the loss around the draws are wide. On spirals the flatter training mostly has the lower test loss as well; on\
 the moons it is a matter of the seed. Click on a picture to add a point.",Mr="No points lie in the middle, so an honest answer is unsure th\
ere. HMC, Hamiltonian Monte Carlo, draws from the exact posterior, if it runs long enough: its band is narrow at the points and wide between\
 them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands are too wide at the points and widen less in the middle.";function ao(r,t={}){
let s=b("div",{class:"pg"});js(s),s.append(b("style",{},ge));let o=new URLSearchParams(t.link===!1?"":location.search).has("embed"),n=t.worlds??
xr,i=new Set(o?n.slice(0,1):n),a={};document.documentElement.classList.toggle("pg-embedded",o);let h=(p,d,f)=>s.append(b("h2",{},p),b("p",{},
d),f);(i.has("weights")||i.has("step"))&&(a.weights=new gs(t),s.append(a.weights.node));let l=()=>{i.has("step")&&a.weights&&(a.step=new ss(
a.weights),h("One step of SA-BMA",Sr,a.step.node)),i.has("network")&&(a.network=new zt(t),h("A network of about fifty weights",kr,a.network.
node)),i.has("gap")&&(a.gap=new zt({...t,...yr}),h("A regression with a gap",Mr,a.gap.node)),Object.assign(s,{playground:a})},c=()=>{s.dataset.
theme=Y()?"dark":"light";for(let p of Object.values(a))p.recolor()};return r.replaceChildren(s),c(),a.weights?setTimeout(l,vr):l(),Ds(c)}var Tr={
render:({model:r,el:t})=>ao(t,{worlds:r.get("worlds"),autoplay:!1,link:!1})};return uo(Ar);})();
