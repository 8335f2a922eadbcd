var flatvizExplorer=(()=>{var zt=Object.defineProperty;var De=Object.getOwnPropertyDescriptor;var Fe=Object.getOwnPropertyNames;var We=Object.prototype.hasOwnProperty;var Pe=(n,t)=>{for(var e in t)zt(n,e,{get:t[e],enumerable:!0})},Ie=(n,t,e,s)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of Fe(
t))!We.call(n,i)&&i!==e&&zt(n,i,{get:()=>t[i],enumerable:!(s=De(t,i))||s.enumerable});return n};var qe=n=>Ie(zt({},"__esModule",{value:!0}),n);var Us={};Pe(Us,{isDark:()=>it,learnColors:()=>nt,onThemeChange:()=>ot,recolored:()=>K,show:()=>Ht,start:()=>qs});function Mt(n){let{index:t}=n,e=n.buffer instanceof ArrayBuffer?n.buffer:n.buffer.buffer.slice(n.buffer.byteOffset,n.buffer.byteOffset+n.buffer.
byteLength),s=t.record;return t.members.map((i,o)=>({meta:i,data:new Float32Array(e,o*s*4,s),read:new Map}))}var Y=n=>Uint8Array.from(atob(n),
t=>t.charCodeAt(0));function Gt(n){let t=n.length/4,e=new Uint8Array(n.length);for(let s=0;s<4;s++)for(let i=0;i<t;i++)e[4*i+s]=n[s*t+i];return e}
function Yt(n,[t,...e]){if(!e.length)return Array.from(n);let s=n.length/t;return Array.from({length:t},(i,o)=>Yt(n.subarray(o*s,(o+1)*s),e))}
function $t(n,t,e){let s=t.read.get(e);if(s)return s;let{offset:i,shape:o}=n[e],a=t.data.subarray(i,i+o.reduce((r,h)=>r*h,1)),l=Yt(a,o);return t.
read.set(e,l),l}var U=(n,t,e)=>$t(n,t,e);function Ot({field:n,rows:t},e,s,i,o){let a=s.meta.words[n];if(t==="phase")return(a??$t(e,s,n))[o];
if(a!==void 0)return a;let l=$t(e,s,n);return t==="draws"?l.slice(0,i):t==="segments"?l.slice(0,3*i):t==="size"?l[Math.min(i,l.length)-1]:l}
function et(n,[t,...e],s){let i=Array.isArray(n)?[...n]:{...n};return i[t]=e.length?et(i[t]??{},e,s):s,i}function Lt(n,t,e){return Array.isArray(
n)&&Array.isArray(t)?t.map((s,i)=>Lt(n[i],s,e)):typeof n=="number"&&typeof t=="number"?n+e*(t-n):e<.5?n:t}function st(n,t){let e=i=>i>0?Math.
log10(i):-1/0,s=i=>i===t?0:Math.abs(e(i)-e(t));return n.reduce((i,o,a)=>s(o)<s(n[i])?a:i,0)}var At={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"},Ue=["colorscale","bdata"];function nt(n){
for(let[t,e]of Object.entries(n))At[t]??=e}function it(){let{body:n,documentElement:t}=document;return n.dataset.jpThemeLight?n.dataset.jpThemeLight===
"false":t.dataset.theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Ke(n,...t){let e=t.slice(0,3).map(
l=>Number(l).toString(16).padStart(2,"0")),s=At[`#${e.join("")}`];if(!s||n.startsWith("rgba(255"))return n;let[i,o,a]=[1,3,5].map(l=>parseInt(
s.slice(l,l+2),16));return`rgba(${i}, ${o}, ${a}, ${t[3]})`}function K(n){return St(n)}function St(n){return typeof n=="string"?n.length<4?n:
n.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>At[t.toLowerCase()]??t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,Ke):Array.isArray(n)?typeof n[0]==
"number"?n:n.map(St):n===null||typeof n!="object"||ArrayBuffer.isView(n)?n:Object.fromEntries(Object.entries(n).map(([t,e])=>[t,Ue.includes(
t)?e:St(e)]))}function ot(n){let t=matchMedia("(prefers-color-scheme: dark)"),e=new MutationObserver(n);return e.observe(document.body,{attributes:!0,
attributeFilter:["data-jp-theme-light"]}),e.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener(
"change",n),()=>{e.disconnect(),t.removeEventListener("change",n)}}function u(n,t={},...e){let s=document.createElement(n);for(let[i,o]of Object.entries(t))typeof o=="function"?s.addEventListener(i.slice(2),
o):o!=null&&o!==!1&&s.setAttribute(i,o===!0?"":String(o));return s.append(...e.filter(i=>i!=null)),s}function M(n,t={},...e){let s=document.
createElementNS("http://www.w3.org/2000/svg",n);for(let[i,o]of Object.entries(t))s.setAttribute(i,String(o));return s.append(...e),s}var D=(n,t,e,s={})=>u(
"button",{type:"button",title:t,onclick:e,...s},n),H=n=>n.getContext("2d"),E=n=>Number(n.toPrecision(3)).toString(),at=(n,t)=>`${n} ${t}${n===
1?"":"s"}`,rt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};async function lt(n){let t=new Image;return t.src=n,
await t.decode(),t}function Et(n,t){let e=u("a",{href:n,download:t});document.body.append(e),e.click(),e.remove()}var He="http://www.w3.org/1998/Math/MathML",Ve={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Ge=["max","min","log","KL","E"],Ye=[
"∑","max","min"],Je=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,j=(n,...t)=>({tag:n,inside:t});function Xe(n){let e=(n.replace(
/\\text\{[^}]*\}/g,r=>r.replaceAll(" "," ")).match(Je)??[]).filter(r=>!/^ +$/.test(r)),s=0,i=()=>{let r=[];for(;s<e.length&&e[s]!=="}";)r.push(
a());return s+=1,r.length===1?r[0]:j("mrow",...r)},o=()=>{let r=e[s++]??"";if(r==="{")return i();let h=r.startsWith("\\")?r.slice(1):"";if(h===
"frac")return j("mfrac",o(),o());if(h==="sqrt")return j("msqrt",o());if(h==="text"){let d=++s;for(;s<e.length&&e[s]!=="}";)s+=1;return{tag:"\
mtext",text:e.slice(d,s++).join("")}}if(Ge.includes(h))return{tag:"mo",text:h};let c=h?Ve[h]??h:r;return/^[0-9.]+$/.test(c)?{tag:"mn",text:c}:
c.endsWith("′")?j("mrow",{tag:"mi",text:c[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(c)?{tag:"mi",text:c}:{tag:c===" "?"mtext":"mo",text:c}},
a=()=>{let r=o(),h={};for(;e[s]==="_"||e[s]==="^";)h[e[s++]]=o();let{_:c,"^":d}=h,f=Ye.includes(r.text??"");return c&&d?j(f?"munderover":"ms\
ubsup",r,c,d):c?j(f?"munder":"msub",r,c):d?j("msup",r,d):r},l=[];for(;s<e.length;)l.push(a());return j("math",j("mrow",...l))}function Jt({tag:n,
text:t,inside:e=[]}){let s=document.createElementNS(He,n);return t&&(s.textContent=t),t==="′"&&s.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&s.setAttribute("stretchy","false"),s.append(...e.map(Jt)),s}function Xt(n){let t=Jt(Xe(n));return t.setAttribute("display","blo\
ck"),t}var J=class{method="";wanted=0;stops=[];offered=[];listed="";remembered={};constructor(t,e){this.change=e;let s=t?` ${t}`:"";this.letter=u("\
span",{class:"fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`method${s}`}),this.radius=u("input",
{type:"range",class:"fv-radius",min:0,step:1,"aria-label":`radius${s}`}),this.text=u("output"),this.node=u("div",{class:"fv-side"},this.letter,
u("label",{},u("span",{},`method${s}`),this.select),u("label",{},u("span",{},`radius${s}`),this.radius,this.text)),this.select.addEventListener(
"change",()=>{this.remembered[this.method]=this.wanted;let i=this.select.value,{stops:o,first:a}=this.offerOf(i),l=o[Math.ceil((o.length-1)/
2)];e({method:i,radius:this.remembered[i]??a??l})}),this.radius.addEventListener("input",()=>e({radius:this.stops[Number(this.radius.value)]}))}offerOf(t){
return this.offered.find(e=>e.method===t)??this.offered[0]}show(t,e,s,i=!1){this.offered=s;let{stops:o,unit:a}=this.offerOf(t);this.list(t),
this.method=t,this.wanted=e,this.stops=o;let l=o.length>1;this.radius.max=String(Math.max(1,o.length-1)),this.radius.disabled=!l,this.radius.
value=String(st(o,e));let r=l?`${E(e)} ${a}${e===0?" (= VI)":""}`:"none",h=l?`radius ${E(e)}`:"no radius";this.text.textContent=i?h:r,this.radius.
setAttribute("aria-valuetext",r)}list(t){let e=this.offered.map(i=>i.method).join()+t;if(e===this.listed)return;this.listed=e;let s=this.offered.
map(i=>{let o=u("option",{value:i.method},i.label);return o.selected=i.method===t,o});this.select.replaceChildren(...s)}},Ze=1200,Qe={duration:800,
easing:"cubic-in-out"},X=class{timer=0;constructor(t,e,{text:s="Play",every:i=Ze}={}){this.next=t,this.text=s,this.every=i,this.button=D(s,e,
()=>this.timer?this.halt():this.go(!0))}get glide(){return this.timer&&!rt.matches?Qe:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.
every),this.next(t)?this.button.textContent="Pause":this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},
Zt=900,ts=1900,ct=class{constructor(t,e){this.player=new X(e,"ascend, gradient there, step back, descend",{text:"Play the step",every:ts}),this.
slider=u("input",{type:"range",class:"fv-phase",min:0,step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener(
"input",()=>t(Number(this.slider.value))),this.node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,
this.slider,this.text)}show(t,e){if(this.node.hidden=!t.length,!t.length)return;let[s,i]=t[e];this.slider.max=String(t.length-1),this.slider.
value=String(e),this.slider.setAttribute("aria-valuetext",`${e+1} of ${t.length}: ${s}`),this.text.replaceChildren(u("b",{},s),`: ${i}`)}};function Qt(n,t){
let e=u("div",{}),s=u("summary",{},n),i=u("details",{class:"fv-menu"},s,e);for(let[o,a]of t){let l=()=>{i.open=!1,a()};e.append(u("button",{
type:"button",onclick:l},o))}return i.addEventListener("keydown",o=>{o.key==="Escape"&&(i.open=!1,s.focus())}),i.addEventListener("focusout",
o=>{let a=o.relatedTarget;a instanceof Node&&!i.contains(a)&&(i.open=!1)}),i}var es={"λ₁":"the largest eigenvalue of the training loss's \
Hessian: how sharply the loss curves at most; low is flat",NLL:"negative log likelihood: mean of −log p of the right answers; low is good",
ECE:"expected calibration error: how far confidence is from the share of right answers; low is good","q′":"a posterior near q; the worst o\
ne has the highest loss on average",KL:"Kullback-Leibler divergence: how far one distribution is from another, in nats",T:"temperature: the \
weight of the prior; 1 is Bayes' rule"};function te(n){let t=new Set,e=s=>s.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((i,o)=>o%2===0||t.has(
i)?i:(t.add(i),u("abbr",{title:es[i],tabindex:0},i)));return n.split(`
`).filter(Boolean).map(s=>s.startsWith("= ")?u("p",{class:"fv-equation"},Xt(s.slice(2))):u("p",{},...s.split("**").flatMap((i,o)=>o%2?u("b",
{},...e(i)):e(i))))}var Z=n=>Object.keys(n).filter(t=>/^[xy]axis\d*$/.test(t)),R=n=>n.margin?.t??n.template.layout.margin.t;function ee({layout:n,data:t},e,s,i){
let{xaxis:o,yaxis:a}=n;if(!a?.scaleanchor||n.xaxis2)return null;let[l,r]=[e.xaxis??o?.range,e.yaxis??a.range],h=t.some(g=>g.colorbar)?130:20,
c=l&&r?(l[1]-l[0])/(r[1]-r[0]):1,d=ss({data:t,layout:n}).reduce((g,m)=>g+44+7.2*m.length,0),f=Math.max((i-R(n)-92)*c,d),p=(s-60-h-f)/2;return p<
8?null:{margin:{...n.margin,t:R(n),l:60+p,r:h+p}}}function se(n,t){let e=["","2","3","4"].filter(l=>n[`xaxis${l}`]),s=e.length>1&&e.every(l=>!n[`\
yaxis${l}`]?.domain);if(t>=460||!s)return n;let i=.1,o=(1-i*(e.length-1))/e.length,a={...n};return e.forEach((l,r)=>{let h=1-r*(o+i),c=r===e.
length-1,d=n[`xaxis${l}`];a[`xaxis${l}`]={...d,domain:[0,1],showticklabels:c,title:c?d?.title:{text:""}},a[`yaxis${l}`]={...n[`yaxis${l}`],domain:[
Math.max(0,h-o),h],showticklabels:!0,nticks:4,title:r===1?n.yaxis?.title:{text:""}}}),{...a,margin:{...n.margin,t:58}}}var _t=({mode:n,name:t,
showlegend:e,visible:s})=>n&&t&&e!==!1&&s!==!1,ss=({data:n,layout:t})=>t.showlegend===!1?[]:n.filter(_t).map(({name:e})=>e??"");function ne({
data:n,layout:t},e,s){let i=s-(t.margin?.t??76)-(t.margin?.b??92),o=r=>{let h=i/(.54*(r.title?.text??"").length),c={...r.title?.font,size:Math.
max(10,Math.min(15,h))};return{...r,title:{...r.title,font:c}}},a=n.map(r=>r.colorbar?.title?.text?{...r,colorbar:o(r.colorbar)}:r),l={...t};
for(let r of Z(t)){let h=t[r]??{},[c,d]=h.domain??[0,1],f=r[0]==="y"?i:e-60,[p]=(h.title?.text??"").split("<br>"),g=f*(d-c)/(.54*p.replace(/<[^>]*>/g,
"").length),m={...h.title?.font,size:Math.max(9,g)};g<15&&(l[r]={...h,title:{...h.title,font:m}})}return{data:a,layout:ns(l,e)}}function ns(n,t){
let{scene:e}=n,s=460/t;if(!e?.camera||s<=1)return n;let i=Object.entries(e.camera.eye).map(([h,c])=>[h,c*s**.7]),o={...e.camera,eye:Object.fromEntries(
i)},a=({title:h})=>h?.text?.replace(/ of [^)]*\)/,")"),l=(h,c=a(h))=>({...h,title:{...h.title,text:c,font:{size:10}},tickfont:{size:9}}),r={
xaxis:l(e.xaxis),yaxis:l(e.yaxis),zaxis:l(e.zaxis,"")};return{...n,scene:{...e,...r,camera:o}}}function oe({data:n,layout:t,phases:e},s,i){let o=t.annotations?.some(({yref:c,y:d=0})=>c==="paper"&&d>=1),a=Math.max(0,R(t)-76)+(o?16:0),l=17*
ae({data:Nt(n),layout:t},s).length,r=(i?12:36)+Math.min(34,a)+l,h=e.length?{b:8,l:8,r:8}:{b:48,l:s<240?40:50,r:12};return{margin:{...t.margin,
t:r,...h}}}function ae({data:n,layout:t},e){if(t.showlegend===!1)return[];let s=[],i=0;for(let{name:o="",mode:a="",marker:l,line:r}of n.filter(
_t)){let h=/markers/.test(a),c=h&&typeof l?.color=="string"?l.color:r?.color,d=/cross/.test(l?.symbol??"")?"✚":"●",f=26+6.6*o.length;f>i&&
(s.push([]),i=e-24),i-=f;let p=`${h?d:"–"} ${o}`;s[s.length-1].push(`<span style="color:${c??"#1f2933"}">${p}</span>`)}return s.map(o=>o.join(
"   "))}function re(n,t){let e=ae(n,t),{annotations:s=[],margin:i}=n.layout;if(!e.length)return{};let o={text:e.join("<br>"),font:{size:11},
x:0,y:1,xref:"paper",yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-(i?.l??0),yshift:4,align:"left",showarrow:!1};return{showlegend:!1,
annotations:[...s,o]}}var ie=({type:n,mode:t="",name:e="",showlegend:s,visible:i})=>n==="scatter"&&/lines/.test(t)&&e!==""&&e.length<11&&s!==
!1&&i!==!1,is=(n=[])=>Array.isArray(n)?n.length:atob(n.bdata).length/Number(n.dtype[1]);function Nt(n){if(n.some(s=>s.type==="scatter"&&s.mode===
"markers"&&s.visible!==!1))return n;let t=n.filter(ie).length,e=0;return n.map(s=>{if(!ie(s))return s;let i=is(s.y),o=i>2&&i<60,a=o?e++*Math.
max(1,Math.floor(i/t)):0,l=o?Math.max(0,i-1-a):i-1;return{...s,showlegend:!1,mode:`${s.mode}+text`,text:Array.from({length:i},(r,h)=>h===l?s.
name:""),textposition:i<60?"top left":"top center",textfont:{size:12,color:s.line?.color},cliponaxis:!1}})}function le(n,{phases:t}){return n.
colorbar?t.length?{...n,showscale:!1}:{...n,colorbar:{...n.colorbar,thickness:9,xpad:4,tickfont:{size:10},title:{...n.colorbar.title,font:{size:10.5}}}}:
n}var ce=({xaxis:n})=>{let[,...t]=(n?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};
function he(n,{phases:t},e){let{title:s,legend:i,annotations:o,xaxis:a}=n,[,...l]=(s?.text??"").split("<br>"),r=e?l.join("<br>"):s?.text,h=(p="")=>Math.
max(...p.split("<br>").map(g=>g.length)),c={...n,title:{...s,text:r,font:{...s?.font,size:12}},legend:{...i,font:{...i?.font,size:11}}};o&&(c.
annotations=o.map(p=>({...p,font:{...p.font,size:h(p.text)>54?8.5:10}})));let[d]=(a?.title?.text??"").split("<br>"),f={title:{text:""},showticklabels:!1,
ticks:"",automargin:!1};return t.length?(c.xaxis={...a,...f},c.yaxis={...n.yaxis,...f}):d&&(c.xaxis={...a,title:{...a?.title,text:d}}),c}var jt=n=>`${n[0]}\
axis${n.slice(1)}`;var os=[0,14,26,40].flatMap(n=>[[0,-n],[0,n],[n,0],[-n,0],[n,-n],[-n,-n],[n,n],[-n,n]]);function de(n,t){let e=Object.entries(t).map(([s,i])=>`${s}\
:${i.toFixed(1)}px`);return u("div",{class:n,style:e.join(";")})}var Ct=(n,t)=>Math.max(1,Math.round(n.length/t));function as(n,t,e,s){let i=n.
_fullLayout?.[jt(t.xaxis??"x")],o=n._fullLayout?.[jt(t.yaxis??"y")];if(!i?.d2p||!o?.d2p||!t.x)return[];let a=[];for(let l=e*s;l<(e+1)*s&&l<t.
x.length;l++){let r=n.offsetLeft+i._offset+i.d2p(t.x[l]),h=n.offsetTop+o._offset+o.d2p(t.y[l]);Number.isFinite(r)&&Number.isFinite(h)&&a.push(
{left:r,top:h})}return a}function fe(n,{link:t},e,s){let i=n._fullLayout;if(!i)return[];let o=n._fullData.flatMap(c=>{let d=t[c.name??""];if(!d)
return[];let f=d==="draws"?1:Ct(c.x??[],s);return as(n,c,e,f).map(p=>de("fv-ring",p))}),{xaxis:a}=i;if(t.x!=="sizes"||!a?.d2p)return o;let{t:l,
h:r}=i._size,h=n.offsetLeft+a._offset+a.d2p(e+1);return[...o,de("fv-rule",{left:h,top:n.offsetTop+l,height:r})]}function pe(n){let e=n.querySelector(
".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.getBoundingClientRect()??new DOMRect,s=[],i=a=>a.left>e.left&&a.right<e.right&&a.top>e.top&&
a.bottom<e.bottom&&s.every(l=>a.right<l.left||a.left>l.right||a.bottom<l.top+3||a.top>l.bottom-3),o=n.querySelectorAll(".scatterlayer .textp\
oint");for(let a of o){a.style.transform="";let l=a.getBoundingClientRect();if(!l.width)continue;let r=([c,d])=>new DOMRect(l.x+c,l.y+d,l.width,
l.height),h=os.find(c=>i(r(c)));a.style.visibility=h?"":"hidden",h&&(a.style.transform=`translate(${h[0]}px, ${h[1]}px)`,s.push(r(h)))}}var rs=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,ue=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
me={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},Rt=["contour","heatmap"];function Dt(n,t){return Array.
isArray(n)&&Array.isArray(t)?n.length===t.length&&n.every((e,s)=>Dt(e,t[s])):Object.is(n,t)}function Bt(n,t,e){let s=t.split("."),i=s[s.length-
1],o=n;for(let a of s.slice(0,-1))o=o[a];Object.assign(o,{[i]:e})}function Ft(n,t,e,s,i){let o=[],a=[];for(let[f,p]of e){let[,g="",m=""]=f.match(
rs)??[];if(m&&Number.isInteger(t._fullData?.[Number(g)]?.index)&&Array.isArray(p))o.push({i:Number(g),path:m,value:p});else if(ue.test(f))a.
push([f,p]);else return!1}let r=[...new Set(o.map(({i:f})=>f))].filter(f=>t._fullData[f].visible===!0);if(!r.every(f=>cs(t,t._fullData[f])))
return!1;for(let{i:f,path:p,value:g}of o)Bt(t.data[f],p,g),r.includes(f)&&Bt(t._fullData[f],p,g);if(!r.every(f=>hs(t,f)))return!1;ls(n,t,a);
let h=new Map;for(let f of r){let p=t._fullData[f];h.set(`${p.type} ${F(p)}`,p)}let c=i?null:r,d=[...h.values()].map(f=>fs(t,c,f,s));for(let f of new Set(
d))f?.style(t);return!0}function ls(n,t,e){let s={};for(let[i,o]of e){let[,a,l,r]=i.match(ue)??[],c=(a==="shapes"?t.layout.shapes:t.layout.annotations)?.[Number(
l)];c&&(Bt(c,r,o),s[`${a}[${l}].opacity`]=c.opacity??1)}Object.keys(s).length&&n.relayout(t,s)}var F=n=>n.xaxis+n.yaxis;function cs(n,t){let e=n.
_fullLayout?._plots?.[F(t)],s=me[t.type];if(!e||!s||t.zorder||!n.calcdata?.[t.index]?.[0]?.trace)return!1;let{calc:i,plot:o,style:a}=t._module;
return[i,o,a].every(l=>typeof l=="function")&&!e.plot.select(`.${s}`).empty()}function hs(n,t){let e=n._fullData[t],{t:s}=n.calcdata[t][0],i=n.
_fullLayout?._plots[F(e)],a=(i?[i.xaxis,i.yaxis]:[]).filter(c=>c.autorange),l=()=>Rt.includes(e.type)||a.every(c=>ds(n,e,c)),r=l();Rt.includes(
e.type)||(e._length=Math.min(e.x.length,e.y.length));let h=e._module.calc(n,e);return h[0].trace=e,h[0].t={...s,...h[0].t},n.calcdata[t]=h,r&&
l()}function ds(n,t,e){let i=n._fullData.find(c=>Rt.includes(c.type)&&c.visible===!0&&F(c)===F(t))?._extremes?.[e._id],o=t._extremes?.[e._id];
if(!i?.min?.length||!o)return!1;let a=Math.abs(e.range[1]-e.range[0])/e._length,l=Math.min(...i.min.map(c=>c.val)),r=Math.max(...i.max.map(c=>c.
val)),h=({pad:c,extrapad:d})=>a*(c+(d?e._length/20:0));return o.min.every(c=>c.val-h(c)>=l)&&o.max.every(c=>c.val+h(c)<=r)}function fs(n,t,e,s){
let{type:i,_module:o}=e,a=F(e),l=n._fullLayout?._plots[a];if(!l)return null;let r=m=>m?.type===i&&m.visible===!0&&m._length!==0&&F(m)===a,h=n.
calcdata.filter(([{trace:m}])=>r(m)),c=l.plot.select(`.${me[i]}`);if(o.crossTraceCalc?.(n,l),h.forEach(ps),i!=="scatter")return o.plot(n,l,h,
c),o;let d=c.selectAll("g.trace").size()===h.length,f=h.every(([{trace:m}])=>!/^tonext/.test(m.fill??"")&&!m.stackgroup),p=d&&t&&!s&&f;if(p){
let m=h.filter(([{trace:x}])=>t.includes(x.index));for(let x of m)o.plot(n,l,[x],c,{duration:0})}else o.plot(n,l,h,c,s);l.zoomScalePts=c.selectAll(
".trace").selectAll("path.point");let g=h.some(([{trace:m}])=>m.error_y?.visible||m.error_x?.visible);return p&&!g?null:o}function ps(n){let{
error_y:t}=n[0].trace;t?.visible&&n.forEach((e,s)=>{let i=e.i??s,{y:o=NaN}=e,a=t.array[i],l=(t.symmetric?t.array:t.arrayminus)[i];[o,a,l].every(
Number.isFinite)&&(e.yh=o+a,e.ys=o-l)})}function ge(n){for(let{plot:t}of Object.values(n._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var us=matchMedia("(pointer: coarse)"),ms=460,V=class{state="";place="";scene="";width=0;revision=0;glides=0;narrow=!1;print="";values=[];member=null;rings=[];constructor(t,e,s){
this.entry=t,this.tools=s,this.mark=u("span",{class:"fv-letter",hidden:""},e),this.plot=u("div",{role:"group"}),this.node=u("div",{class:"fv\
-plot"},this.mark,this.plot)}draw(t,e,s){let{entry:i,plot:o,tools:a}=this,{dark:l,transition:r,phone:h,at:c}=s,d=this.take(s,e),{width:f,height:p,
ranges:g,placed:m}=d;this.narrow=!!d.narrow&&h;let x=i.binds.some(({rows:L})=>L!=="all"&&L!=="phase"),v=[m&&f,l,p,JSON.stringify(g)].join("/"),
{method:b,radius:$}=t.meta,w=[v,b,$,t.version??0,x?e:""].join("/"),k=`${w}/${c}`;if(this.state===k)return this.resize(f),!1;let O=i.binds.map(
L=>Ot(L,a.index.fields,t,e,c));if(this.place===w&&!rt.matches)return this.slide(O,k,c,l),!1;let S=!this.state,_=S||this.scene!==v?null:this.
changesTo(O,l);this.place=w,this.state=k,this.scene=v,this.member=t,this.values=O,i.phases.length&&(o.dataset.phase=String(c));let y=this.interrupt();
return this.glides=r?performance.now()+r.duration+100:0,_&&Ft(a.Plotly,o,_,r,y)?this.resize(f):this.drawWhole(d,h,l,S),this.spread(),!0}take({
height:t,most:e,width:s=this.plot.clientWidth,phone:i,ranges:o},a){let{entry:l}=this,{layout:r,phases:h}=l,c=s<ms?oe(l,s,i):null,d=t,f=o,p=r.
yaxis?.scaleanchor,g=r.xaxis2?Z(r).filter(x=>x[0]==="x").length:1;if(c){let{t:x,b:v,l:b,r:$}=c.margin,w=x+v+s-b-$-(h.length?0:66);p&&g===1&&
(d=Math.round(Math.min(w,Math.max(e,x+v+85)))),h.length&&(f=this.low(o,(d-x-v)/(s-b-$),a))}else if(p){let x=g>1?(s-160)/g+70:s-100;d=Math.round(
Math.max(300,Math.min(t,R(r)+x)))}let m=c??ee(l,f,s,d);return{width:s,height:d,ranges:f,narrow:c,placed:m}}drawWhole(t,e,s,i){let{plot:o,tools:a}=this,
{width:l,height:r}=t,{data:h,layout:c}=this.composed(t,e);us.matches&&(c.dragmode=!1);let d=s?K(h):h.map(f=>({...f}));this.width=l,o.style.height=
`${r}px`,a.Plotly.react(o,d,s?K(c):c,a.index.config),i?this.listen():o._fullLayout?.width!==l&&a.Plotly.Plots.resize(o)}composed({width:t,height:e,
ranges:s,narrow:i,placed:o},a){let{entry:l}=this;this.revision+=1;let r={uirevision:"kept",datarevision:this.revision},h={data:l.data,layout:{
...l.layout,height:e,...r}};l.binds.forEach(({path:c},d)=>{h=et(h,c.split("."),this.values[d])});for(let[c,d]of Object.entries(s))h=et(h,["l\
ayout",c,"range"],d);return o&&(h.layout={...h.layout,margin:o.margin}),h.layout=se(h.layout,t),h=ne(h,t,e),i&&(h.data=Nt(h.data).map(c=>le(
c,l))),this.print=i?ce(h.layout):"",i&&(h.layout=he({...h.layout,...re(h,t)},l,a)),h}changesTo(t,e){return this.entry.binds.flatMap(({path:s},i)=>{
let o=t[i];return Dt(o,this.values[i])?[]:[[s,e?K(o):o]]})}interrupt(){let t=performance.now()<this.glides;return t&&ge(this.plot),this.glides=
0,t}low(t,e,s){let{entry:i,tools:o}=this,{xaxis:a,yaxis:l}=i.layout,[r,h]=[t.xaxis??a?.range,t.yaxis??l?.range],c=(h[0]+h[1])/2,d=i.binds.filter(
({path:p})=>p.endsWith(".y")),f=e*(r[1]-r[0])/2;for(let p of d)for(let g of o.members)for(let m of i.phases.keys()){let x=Ot(p,o.index.fields,
g,s,m);for(let v of x)f=Math.max(f,1.06*Math.abs(v-c)||0)}return f<h[1]-c?{...t,yaxis:[c-f,c+f]}:t}slide(t,e,s,i){let{entry:o,plot:a,tools:l}=this,
r=this.values,h=performance.now(),c=this.interrupt();this.state=e,delete a.dataset.phase;let d=()=>{if(this.state!==e)return;let f=Math.min(
1,(performance.now()-h)/Zt),p=f*f*(3-2*f),g=t.map((v,b)=>o.binds[b].rows==="phase"?Lt(r[b],v,p):v),m=this.changesTo(g,i);this.values=g;let x=a.
clientWidth&&Ft(l.Plotly,a,m,void 0,c);c=!1,x?f<1?requestAnimationFrame(d):(a.dataset.phase=String(s),this.spread()):(this.renew(),l.redraw())};
requestAnimationFrame(d)}spread(){this.entry.phases.length&&pe(this.plot)}renew(){this.state&&(this.state="elsewhere",this.scene="",this.place=
"")}describe(t){this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){let e=this.plot._fullLayout?.width??t;!this.state||!t||
t===this.width&&Math.abs(e-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){let{plot:t,tools:e}=this,s=i=>o=>{let a=this.
drawOf(o);a!==null&&e.point(i,a)};t.on("plotly_hover",s("hover")),t.on("plotly_click",s("click")),t.on("plotly_unhover",()=>e.point("hover",
null)),t.on("plotly_relayout",()=>e.replace(this))}drawOf({points:[t]=[]}){let{member:e}=this;if(!t||!e)return null;let{link:s}=this.entry,i=s[t.
data.name??""];return i==="draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/Ct(t.data.x,e.meta.n_spectra)):s.x==="sizes"?Math.
round(t.x)-1:null}light(t){for(let e of this.rings)e.remove();this.rings=[],!(t===null||!this.state||!this.member)&&(this.rings=fe(this.plot,
this.entry,t,this.member.meta.n_spectra),this.node.append(...this.rings))}async image(t,e=1){let{width:s,height:i}=this.plot._fullLayout??{};
return this.tools.Plotly.toImage(this.plot,{format:t,width:s,height:i,scale:e})}};var gs=255,vs=254;function Wt(n){return n.images??=xs(n.meta.images),n.images}function xs({pool:n,labels:t,shown:e,nats:s,n_draws:i,classes:o,
probs:a}){let l=Y(a);return{classes:o,kept:r=>Math.min(r,i),prob(r,h,c){let d=l[(r*n.length+h)*o.length+c];return d===gs?NaN:d/vs},of:r=>e[r-
1].map((h,c)=>({place:h,row:n[h],label:t[h],nats:s[r-1][c]}))}}var ve=new WeakMap;function xe(n,...t){for(let e of t){let{rows:s=[],pixels:i="",
shape:o=[]}=e??{},a=s.indexOf(n);if(!e||a<0)continue;let l=ve.get(e)??{bytes:Y(i),urls:new Map};ve.set(e,l);let r=l.urls.get(n)??bs(l.bytes,
a,o);return l.urls.set(n,r),r}return""}function bs(n,t,[e,s,i=1]){let o=u("canvas",{width:s,height:e}),a=H(o),l=a.createImageData(s,e);for(let r=0;r<
e*s;r++){let h=(t*e*s+r)*i;for(let c=0;c<3;c++)l.data[4*r+c]=n[h+(i>1?c:0)];l.data[4*r+3]=255}return a.putImageData(l,0,0),o.toDataURL()}var ht=12,
Q=(n,t)=>n.length>t?`${n.slice(0,Math.max(1,t-1))}…`:n,be=n=>`${(100*n).toFixed(0)} %`;var dt=4,we=48;function ye(n,t,e){let s=NaN,i=-1;return n.classes.forEach((o,a)=>{let l=n.prob(t,e,a);l>i&&([s,i]=[a,l])}),s}function ws({items:n,
n:t},e){let s=new Map;for(let i=0;i<n.kept(t);i++){let o=ye(n,i,e);s.set(o,(s.get(o)??0)+1)}return[...s].sort((i,o)=>o[1]-i[1])}function ys(n,{
place:t,label:e},s){let{items:i,n:o,lit:a}=n,{classes:l}=i,r=i.kept(o);if(a===null||a>=r)return{said:ws(n,t).map(([p,g])=>`${l[p]??"none"}${r>
1?`×${g}`:""}`).join(" "),one:!1,wrong:!1};let h=ye(i,a,t);return{said:`${s>110?`draw ${a+1}: `:""}${l[h]??"none"}, ${be(i.prob(a,t,h))}`,one:!0,
wrong:h!==e}}function ke(n,t,e,s,{left:i,top:o,width:a,height:l}){let{member:r,ink:h,now:c,pixels:d,items:f}=n,p=a/dt,g=Math.min(p-10,l/Math.
ceil(s/dt)-we),m=i+e%dt*p+(p-g)/2,x=o+Math.floor(e/dt)*(g+we),{said:v,one:b,wrong:$}=ys(n,t,p),w=Math.floor((p-8)/6.9),k=f.classes[t.label],
O=t.nats.toFixed(2),_=[`${k} · ${O} nats`,`${k} · ${O}`].find(I=>I.length<=w)??`${Q(k,w-O.length-3)} · ${O}`,y=`test image ${t.row}, labe\
l ${k}, disagreement ${O} nats; answers ${v}`,L=c.row===t.row,W={x:m+g/2,"text-anchor":"middle"},P={"data-row":t.row,role:"button",tabindex:0,
"aria-label":y,"aria-pressed":L,style:"cursor:pointer"};return M("g",P,M("title",{},y),M("image",{x:m,y:x,width:g,height:g,href:xe(t.row,r.meta.
images,d),style:"image-rendering:pixelated"}),M("rect",{x:m-1,y:x-1,width:g+2,height:g+2,fill:"none",stroke:L?h.mark:h.line,"stroke-width":L?
3:1}),M("text",{...W,y:x+g+16},_),M("text",{...W,y:x+g+32,"font-size":11.5,class:"fv-said","font-weight":b?600:400,fill:b?$?h.mark:h.ink:h.soft},
Q(v,w)))}function ze(n,{left:t,top:e,width:s,height:i,turned:o,foot:a}){let{now:l,n:r,ink:h,lit:c,items:d,dark:f,member:p}=n,{classes:g}=d,m=d.kept(r),
x=s/g.length,v=z=>t+(z+.5)*x,b=z=>e+(1-z)*i,{color:$}=p.meta.images,w=M("g",{"data-chart":l.row}),k=(z,A)=>w.append(M("text",A,z));w.append(
M("rect",{x:t,y:e,width:s,height:i,fill:"transparent"}));for(let z of[0,.25,.5,.75,1]){let A={x1:t,x2:t+s,y1:b(z),y2:b(z)};w.append(M("line",
{...A,stroke:h.line})),k(String(z),{x:t-6,y:b(z)+4,"text-anchor":"end",fill:h.soft})}let O=e+i+16;g.forEach((z,A)=>{let B=0;for(let T=0;T<m;T++)
B+=d.prob(T,l.place,A);if(B/=m,Number.isFinite(B)){let T={class:"fv-mean",x:v(A)-.36*x,y:b(B),width:.72*x,height:B*i};w.append(M("rect",{...T,
fill:$,"fill-opacity":f?.6:.35}))}let kt={transform:`rotate(-40 ${v(A)} ${O})`,"text-anchor":"end"},q={"text-anchor":"middle","font-weight":A===
l.label?700:400};k(Q(z,ht),{x:v(A),y:O,...q,...o?kt:{}})});let S=(z,A)=>{let B=g.map((q,T)=>[v(T),b(d.prob(z,l.place,T))]).filter(([,q])=>Number.
isFinite(q)).map(([q,T])=>`${q.toFixed(2)},${T.toFixed(2)}`),kt={"data-draw":z,points:B.join(" "),fill:"none"};w.append(M("polyline",{...kt,
"stroke-linejoin":"round",...A}))},_={stroke:f?h.ink:$,"stroke-width":1.2,"stroke-opacity":.55};for(let z=0;z<m;z++)S(z,_);let y=c!==null&&c<
m;y&&S(c,{stroke:h.mark,"stroke-width":3.5});let L={x:t-30,y:e-36,"font-size":15};k(`Test image ${l.row}, label ${g[l.label]}`,L);let W=y?`;\
 thick: draw ${c+1}`:"",P=`bars: mean of ${m} draws; lines: single draws${W}`;k(m===1?"one draw: its probabilities":P,{x:t-30,y:e-16,fill:h.
soft});let G={x:t+s/2,y:e+i+a,fill:h.soft};return k("class (bold: the label)",{...G,"text-anchor":"middle"}),{node:w,chart:{x:v,y:b,step:x,items:d}}}var ks=620,zs=14,$s={light:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"},dark:{ink:"#e4e7eb",soft:"#a3aeb9",line:"\
#3a434d",paper:"#15191e",mark:"#ff9d5c"}},Pt=({target:n},t)=>n instanceof Element?n.closest(t):null;function Ms(n,t,e){let s=n>=ks,i=s?.48*n-
62:n-52,o=Math.min(ht,Math.max(...e.map(c=>c.length))),a=i/e.length<7*o,l=a?34+4.3*o:36,r=s?{left:8,top:34,width:.52*n-16,height:t-40}:{left:6,
top:30,width:n-12,height:.54*t-30},h=s?{left:.52*n+46,top:58,height:t-82-l}:{left:40,top:.54*t+50,height:.46*t-60-l};return{wide:s,tiles:r,chart:{
...h,width:i,turned:a,foot:l}}}var ft=class extends V{drawn=null;lit=null;pointed=null;now=null;chart=null;painting=!1;words="";constructor(t,e,s){
super(t,e,s),this.listenToTiles()}listenToTiles(){let{plot:t,tools:e}=this,s=o=>Pt(o,"[data-row]")?.dataset.row??"",i=o=>this.show(o?Number(
o):null);t.addEventListener("pointermove",o=>{let a=s(o);a?i(a):Pt(o,"[data-chart]")&&this.point("hover",o)}),t.addEventListener("pointerlea\
ve",()=>{this.show(null),e.point("hover",null)}),t.addEventListener("click",o=>{let a=s(o);a?e.choose("image",a):Pt(o,"[data-chart]")&&this.
point("click",o)}),t.addEventListener("keydown",o=>{let a=s(o);!a||o.key!=="Enter"&&o.key!==" "||(o.preventDefault(),e.choose("image",a))}),
t.addEventListener("focusin",o=>{let a=s(o);a&&!this.painting&&i(a)})}draw(t,e,{height:s,width:i=this.plot.clientWidth,dark:o}){let a=this.tools.
chosen().image??"",{method:l,radius:r}=t.meta,h=t.version??0,c=[i,l,r,h,e,o,s,a].join("/");return this.state===c?!1:(a!==this.drawn?.chosen&&
(this.pointed=null),this.state=c,this.member=t,this.drawn={member:t,n:e,width:i,height:s,dark:o,chosen:a},this.paint(),!0)}resize(){let{clientWidth:t}=this.
plot;!this.state||!this.drawn||!t||t===this.drawn.width||(this.drawn.width=t,this.paint())}light(t){this.lit===t||!this.state||(this.lit=t,this.
paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,e){let{chart:s,drawn:i,now:o}=this,a=this.plot.
firstElementChild;if(!s||!i||!o||!a)return;let{left:l,top:r}=a.getBoundingClientRect(),{x:h,y:c,step:d,items:f}=s,p=Math.floor((e.clientX-l-
h(0)+d/2)/d),g=Math.max(0,Math.min(f.classes.length-1,p)),m=v=>{let b=f.prob(v,o.place,g);return Number.isFinite(b)?Math.abs(c(b)-(e.clientY-
r)):1/0},x=0;for(let v=1;v<f.kept(i.n);v++)m(v)<m(x)&&(x=v);m(x)<zs?this.tools.point(t,x):t==="hover"&&this.tools.point("hover",null)}paint(){
let{drawn:t,plot:e,lit:s}=this;if(!t?.width)return;let{member:i,n:o,width:a,height:l,dark:r,chosen:h}=t,c=Wt(i),d=c.of(o),{wide:f,tiles:p,chart:g}=Ms(
a,l,c.classes),m=$s[r?"dark":"light"],b=[this.pointed,Number(h||NaN)].map(I=>d.find(G=>G.row===I)).find(Boolean)??d[0],{activeElement:$}=document,
w=e.contains($)?$?.getAttribute("data-row"):null,k=M("svg",{width:a,height:l,viewBox:`0 0 ${a} ${l}`,"font-size":12,"font-family":"system-ui\
, sans-serif",fill:m.ink}),O=this.tools.index.images,S={member:i,items:c,n:o,dark:r,ink:m,lit:s,now:b,pixels:O},{node:_,chart:y}=ze(S,g),L=d.
map((I,G)=>ke(S,I,G,d.length,p)),W=M("rect",{width:a,height:l,fill:m.paper});k.append(W,this.title(c,o,f,p),...L,_),this.now=b,this.chart=y,
e.style.height=`${l}px`,e.replaceChildren(k),this.painting=!0;let P=w?e.querySelector(`[data-row="${w}"]`):null;P instanceof SVGElement&&P.focus(),
this.painting=!1,this.name()}title(t,e,s,i){let o=t.kept(e)===1,a=o?"it is least sure":"the draws disagree most",l=s&&!o?`Images on which ${a}`:
`Where ${a}`,r=i.left+(this.mark.hidden?4:18);return M("text",{x:r,y:22,"font-size":15},l)}describe(t){this.words=t,this.name()}name(){let{now:t,
words:e,drawn:s}=this;if(!t||!e||!s)return;let{classes:i,of:o}=Wt(s.member),a=o(s.n).map(h=>i[h.label]),l=`in the chart test image ${t.row},\
 label ${i[t.label]}`,r=`${e} Labels of the images: ${a.join(", ")}; ${l}.`;this.plot.setAttribute("aria-label",r)}async image(t,e=1){let s=this.
plot.firstElementChild?.cloneNode(!0);if(!(s instanceof SVGElement)||!this.drawn)return"";let{width:i,height:o}=this.drawn;s.setAttribute("x\
mlns","http://www.w3.org/2000/svg");let a=new XMLSerializer().serializeToString(s),l=`data:image/svg+xml,${encodeURIComponent(a)}`;if(t==="s\
vg")return l;let r=await lt(l),h=u("canvas",{width:i*e,height:o*e});return H(h).drawImage(r,0,0,h.width,h.height),h.toDataURL("image/png")}};var $e={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},pt=class{past=[];last="";when=0;constructor(t,{n_max:e,members:s},i,o){
this.model=t,this.most=e,this.methods=s.map(a=>a.method),this.changed=i,this.acted=o,this.start=this.all}get all(){let{model:t}=this,e=Math.
max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:e,...$e,...t.get("look")??{}}}change(t){
let e=Object.keys(t).join(),s=Date.now();(e!==this.last||s-this.when>700)&&this.past.push(this.all),this.past.length>100&&this.past.shift(),
this.last=e,this.when=s,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:e,n_draws:s,...i}){let{tab:o,compare:a,picked:l,chosen:r,
step:h,phase:c}={...$e,...i},{model:d}=this;d.set("method",t),d.set("radius",e),d.set("n_draws",s),d.set("look",{tab:o,compare:a,picked:l,chosen:r,
step:h,phase:c}),d.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start);let t=this.past.pop();t&&this.put({...t,step:this.
all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:e,n_draws:s,tab:i,compare:o,picked:a,
chosen:l,step:r,phase:h}=this.all,c=new URLSearchParams({method:t,radius:`${e}`,draws:`${s}`});i&&c.set("tab",i),o&&c.set("b",`${o.radius}:${o.
method}`),a!==null&&c.set("draw",`${a+1}`),r!==this.start.step&&c.set("step",`${r+1}`),h!==null&&c.set("phase",`${h+1}`);for(let[d,f]of Object.
entries(l))c.set(`see.${d}`,f);return`#${c}`}read(t){let e=new URLSearchParams(t.replace(/^#/,"")),s={},i=(c,d,f)=>{let p=e.has(c)?Number(e.
get(c)):NaN;p>=d&&Number.isFinite(p)&&f(p)},o=e.get("method")??"";this.methods.includes(o)&&(s.method=o),i("radius",0,c=>s.radius=c),i("draw\
s",1,c=>s.n_draws=Math.round(c));let a=e.get("tab");a!==null&&(s.tab=a),i("draw",1,c=>s.picked=Math.round(c)-1),i("step",0,c=>s.step=Math.round(
c)-1),i("phase",1,c=>s.phase=Math.round(c)-1);let[,l,r]=e.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];r!==void 0&&Number.isFinite(Number(l))&&
(s.compare={method:r,radius:Number(l)});let h=[...e].filter(([c])=>c.startsWith("see.")).map(([c,d])=>[c.slice(4),d]);h.length&&(s.chosen=Object.
fromEntries(h)),Object.keys(s).length&&this.put({...this.start,...s})}};var Os=30,Ls=100,Ss=1500;function ut({phases:n},{phase:t}){return n.length&&Math.min(t??n.length,n.length-1)}function mt(n){let{layout:t,el:e,
frames:s}=n,i=n.current();t.arrange(i),n.bar.show(i),!n.placed&&!n.stopped&&(n.placed=!0,n.article.goTo());let o=it()&&!n.printing;e.dataset.
theme=o?"dark":"light";let a=s.filter(({node:r})=>!r.hidden).flatMap(r=>Es(n,r,i));for(let r of a)r.height=t.height(i,r.frame),r.most=As(n,i,
r.height),r.picture.state&&(r.width=r.picture.plot.clientWidth);let l=({frame:r})=>{let{top:h,bottom:c}=r.node.getBoundingClientRect();return c<
0||h>window.innerHeight};t.tabOf(i)==="All"&&a.sort((r,h)=>Number(l(r))-Number(l(h))),n.pending=a,Me(n,i,o)}function As({printing:n,layout:t,
el:e,bar:s},i,o){return n?1/0:t.reads(i)||i.b&&e.clientWidth<640?o:t.screen-t.tall(s.node,i)-8}function Es(n,t,e){let{a:s,b:i}=e,o=t.entry(e.
chosen),a=o.kind==="plotly"&&!o.binds.length,l=i&&!a?{A:s,B:i}:{A:s},r=Object.keys(l),h=`${o.name}/${r}`;if(t.shown!==h){t.shown=h,t.node.dataset.
name=o.name;for(let[p,g]of Object.entries(o.option))t.menus[p].value=g;let d=o.kind==="images"?ft:V,f=r.map(p=>t.made[o.name+p]??=new d(o,p,
n.tools));t.pair.replaceChildren(...f.map(({node:p})=>p))}let c=s.member.meta.captions?.[o.name]??o.caption;return t.caption.textContent!==c&&
(t.caption.textContent=c),t.phases?.show(o.phases,ut(o,e)),Object.entries(l).flatMap(([d,{member:f}])=>{let p=t.made[o.name+d],g=!!f.meta.waiting?.
includes(o.name);return p.node.classList.toggle("fv-waits",g),g?[]:(p.mark.hidden=!i||a,[{frame:t,picture:p,member:f,entry:o,height:0,most:0,
width:void 0}])})}function Me(n,t,e){let{pending:s}=n,i=performance.now()+(n.printing?1e9:Os);for(let o=s.shift();o;o=s.shift())if(_s(n,t,e,
o),performance.now()>i&&s.length){requestAnimationFrame(()=>{n.pending===s&&!n.stopped&&Me(n,t,e)});return}Ts(n,t)}function _s(n,t,e,{frame:s,
picture:i,member:o,entry:a,height:l,most:r,width:h}){let{members:c,layout:d,bar:f}=n,p=ut(a,t);i.draw(o,t.n_draws,{height:l,most:r,width:h,dark:e,
phone:d.narrow,ranges:c.ranges(a),transition:f.player.glide,at:p})&&i.light(n.lit);let[m]=(a.layout.title?.text??"").split("<br>");s.question.
textContent=i.narrow&&m?`${m}: what is this?`:"What is this?",i.print&&!s.caption.textContent?.endsWith(i.print)&&s.caption.append(i.print);
let x=a.phases[p]?.[0],{alts:v,radius:b,method:$}=o.meta,w=c.sentence({member:o,wanted:b,method:$},t.n_draws);i.describe(`${v[a.name]}${x?`;\
 ${x}`:""}. ${w}`)}function Ts(n,t){let{el:e,layout:s,members:i}=n,{a:o,b:a}=t;e.dataset.state=`${o.method}/${o.member.meta.radius}/${t.n_draws}`,
e.dataset.shown=o.member.meta.note?"preview":"fitted";let l=a?` | ${a.method}/${a.member.meta.radius}`:"";if(e.dataset.look=`${s.tabOf(t)}${l}`,
n.hash&&!n.stale){let r=location.hash,h=()=>{location.hash===r&&history.replaceState(null,"",n.state.hash)};n.later("address",h,Ls)}n.stale&&
performance.mark("flatviz-drawn"),n.stale=!1,i.live&&n.later("shot",()=>n.photograph(),Ss)}var Ns="660px";function Le(n){let{el:t,grid:e,state:s,model:i,article:o}=n,a=[],l=0,r=(d,f,p={})=>{window.addEventListener(d,f,p),a.push(()=>window.
removeEventListener(d,f))},h=["radius","n_draws","method","look"].map(d=>`change:${d}`);for(let d of h)i.on(d,n.schedule);a.push(()=>h.forEach(
d=>i.off?.(d,n.schedule)));let c=new ResizeObserver(()=>{if(!(n.stopped||!t.clientWidth)){t.clientWidth!==l&&(l=t.clientWidth,n.placed=!1,n.
layout.arrange(n.current()),n.schedule());for(let d of n.pictures)d.resize();n.mark()}});for(let d of[t,e])c.observe(d);a.push(()=>c.disconnect()),
a.push(ot(n.schedule)),r("beforeprint",()=>Oe(n,!0)),r("afterprint",()=>Oe(n,!1)),r("resize",n.schedule),o.story.length&&r("scroll",o.scrolled,
{passive:!0}),n.hash&&(r("hashchange",()=>{location.hash!==s.hash&&(s.read(location.hash),n.placed=!1)}),location.hash.length>1&&s.read(location.
hash)),n.forget=()=>a.forEach(d=>d())}function Oe(n,t){if(n.printing=t,n.el.style.width=t?Ns:"",mt(n),t)for(let e of n.pictures)e.resize()}var gt=class{explored=null;rest=0;constructor(t,e){this.story=t,this.page=e,this.sections=t.map(s=>u("section",{},u("h2",{},s.title),...te(s.
text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(this.rest),this.
rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).paddingTop):0}reads({
step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:e}=this,s=e+.45*(window.innerHeight-e),i=Math.max(0,t.findLastIndex(
o=>o.getBoundingClientRect().top<s));return i<t.length-1?i:-1}follow(){let{page:{state:t,resting:e},story:s}=this,i=this.inSight(),o=t.all;if(e()||
i===o.step)return;o.step<0&&(this.explored=o);let{method:a,radius:l,n_draws:r}=t.start;t.acted({step:i}),t.put(i<0&&this.explored||{method:a,
radius:l,n_draws:r,...s.at(i)?.set,step:i})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==t&&(this.sections[t]??
this.page.stage).scrollIntoView()}};var js=40,Cs=450;async function It(n,t){for(let[e,s,i]of n){if(!i.member)continue;let{method:o,radius:a}=i.member.meta,l=["flatviz",s.name,o,
a||"",e==="B"?"b":""],r=await i.image(t,t==="png"?2:1);Et(r,`${l.filter(Boolean).join("-")}.${t}`)}}async function Se({el:n,state:t,member:e,
radii:s,shown:i}){let o=t.all,{method:a,label:l}=e.meta,r=[];for(let d of s){for(t.put({...o,radius:d});n.dataset.state!==`${a}/${d}/${o.n_draws}`;)
await new Promise(requestAnimationFrame);let f=await Promise.all(i().map(async([,,p])=>lt(await p.image("png"))));r.push({text:`${l}, radius\
 ${d}`,images:f})}t.put(o);let{blob:h,type:c}=await Rs(n,[...r,...r.slice(0,-1).reverse(),r[0]]);Et(URL.createObjectURL(h),`flatviz-${a}-rad\
ius.${c?.slice(6)}`)}async function Rs(n,t){let e=t.map(({images:m})=>m.reduce((x,v)=>x+v.width,0)),s=Math.max(...e),i=Math.max(...t.flatMap(
({images:m})=>m.map(x=>x.height))),o=u("canvas",{width:s+s%2,height:i+js+i%2}),a=H(o),{color:l,backgroundColor:r,fontFamily:h}=getComputedStyle(
n),c=["video/mp4","video/webm"].find(m=>MediaRecorder.isTypeSupported(m)),d={mimeType:c,videoBitsPerSecond:4e6},f=new MediaRecorder(o.captureStream(),
d),p=[],g=new Promise(m=>{f.addEventListener("stop",m)});f.addEventListener("dataavailable",({data:m})=>p.push(m)),f.start(),a.font=`600 18p\
x ${h}`;for(let{text:m,images:x}of t){a.fillStyle=r,a.fillRect(0,0,o.width,o.height);let v=0;for(let b of x)a.drawImage(b,v,0),v+=b.width;a.
fillStyle=l,a.fillText(m,14,o.height-14),await new Promise(b=>{setTimeout(b,Cs)})}return f.stop(),await g,{blob:new Blob(p,{type:c}),type:c}}
function Ae(n,t,{n_draws:e,phase:s}){let i=JSON.stringify,o=n.flatMap(([,{kind:a,name:l,phases:r},{member:h}])=>{if(a!=="plotly"||!h)return[];
let{method:c,radius:d}=h.meta,f=r.length&&s!==null,p=f?t.phases[Math.min(s,t.phases.length-1)]:"",g=[`method=${i(c)}`,`radius=${d}`,`n_draws\
=${e}`,...f?[`phase=${i(p)}`]:[]];return[`fv.widgets.plot_view(family, ${i(l)}, ${g.join(", ")})`]});return["import flatviz as fv","",...t.code??
[],...o].join(`
`)}var vt=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,e){
let{node:s}=this;s.hidden=!1,s.value=t,s.select(),navigator.clipboard?.writeText(t).then(()=>s.setAttribute("aria-label",`${e}, copied`),()=>{});
let i=o=>{o.target!==s&&(s.hidden=!0,document.removeEventListener("pointerdown",i))};document.addEventListener("pointerdown",i)}};var Bs={ArrowRight:1,ArrowLeft:-1},qt=class{busy=!1;constructor({ask:t,index:e,members:s}){this.progress=u("progress",{max:1,value:0,"aria-l\
abel":"share of the fit that is done"}),this.said=u("span",{role:"status"}),this.button=D("Stop","stop or start fitting",()=>t?.(this.button.
textContent==="Stop"?"stop":"run"));let i="fit every member again with two more seeds, behind the picture";this.bands=D("Bands over seeds",i,
()=>t?.("seeds")),this.bands.hidden=e.seeds!==1;let o=[this.button,this.progress,this.said,this.bands];this.node=u("div",{class:"fv-work"},...o),
this.node.hidden=!s.live,this.note=u("div",{class:"fv-note",role:"alert",hidden:""})}show({share:t,text:e,busy:s,error:i}){this.busy=s,this.
progress.value=t,this.said.textContent=e,this.button.textContent=s?"Stop":"Run",this.bands.disabled=s,this.note.hidden=!i,this.note.textContent=
i??""}lost(t){this.node.hidden=!0,this.note.hidden=!1,this.note.textContent=t}},xt=class{constructor(t){this.page=t;let{state:e,index:s,members:i}=t;
this.a=new J("",r=>e.change(r)),this.b=new J("B",r=>{let{method:h,wanted:c}=this.b;e.change({compare:{method:h,radius:c,...r}})}),this.draws=
u("input",{type:"range",class:"fv-draws",min:1,max:s.n_max,step:1,"aria-label":"ensemble size"}),this.drawsText=u("output"),this.draws.addEventListener(
"input",()=>e.change({n_draws:Number(this.draws.value)}));let o="two states side by side, on the same scales";this.compare=D("Compare",o,()=>{
let{a:r,b:h}=t.current(),c=i.methods.find(f=>f==="vi"&&f!==r.method)??r.method,[d]=i.stops(c);e.change({compare:h?null:{method:c,radius:d}})});
let a="go through the fitted radii of this method";this.player=new X(r=>this.playRadius(r),a),this.undo=D("Undo","take the last change back",
()=>e.undo()),this.copied=new vt,this.work=new qt(t),this.reading=u("p",{class:"fv-reading"}),this.readingB=u("p",{class:"fv-reading",hidden:""}),
this.spoken=u("div",{"aria-live":"polite"},this.reading,this.readingB);let l=[...new Set(s.figures.map(({group:r})=>r))];this.names=l.length>
1?[...l,"All"]:l,this.panel=`fv-panel-${Math.random().toString(36).slice(2)}`,this.tabButtons=this.names.map(r=>{let h={type:"button",role:"\
tab","aria-controls":this.panel};return u("button",{...h,onclick:()=>e.change({tab:r})},r)}),this.tabs=this.tabList(),this.node=this.build()}tabList(){
let{names:t,page:e,tabButtons:s}=this,o=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"},...s);return o.addEventListener("keydo\
wn",a=>{let l=Bs[a.key];if(!l)return;let{state:r,layout:h}=e,c=(t.indexOf(h.tabOf(r.all))+l+t.length)%t.length;r.change({tab:t[c]}),s[c].focus()}),
o.hidden=t.length<2,o}build(){let t=u("label",{},u("span",{},"ensemble size"),this.draws,this.drawsText),e=u("div",{class:"fv-controls",role:"\
group","aria-label":"controls"},this.a.node,t,this.b.node),s=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},this.player.button,
this.compare,this.undo,this.menu());return u("div",{class:"fv-bar"},e,this.work.node,this.work.note,this.spoken,u("div",{class:"fv-strip"},this.
tabs,s))}menu(){let{page:t,copied:e}=this,{state:s,index:i,members:o,hash:a,el:l}=t,r=[["Reset",()=>s.reset()],["Copy as code",()=>e.take(Ae(
t.shown(),i,s.all),"code")]],h=()=>new URL(s.hash,location.href).href;a&&r.push(["Copy link",()=>e.take(h(),"link")]),r.push(["Save as SVG",
()=>It(t.shown(),"svg")]),r.push(["Save as PNG",()=>It(t.shown(),"png")]);let c=()=>{let{member:d}=t.current().a,f=o.fitted(d.meta.method);Se(
{el:l,state:s,member:d,radii:f,shown:()=>t.shown()})};return globalThis.MediaRecorder&&r.push(["Save film of the radius",c]),Qt("Menu",r)}playRadius(t){
let{state:e,members:s}=this.page,{method:i,member:o}=this.page.current().a,a=s.fitted(i),r=a.find(h=>h>o.meta.radius)??(t?a[0]:void 0);return r===
void 0||a.length<2?!1:(t&&e.past.push(e.all),e.put({...e.all,radius:r}),!0)}show(t){let{page:e,draws:s,drawsText:i}=this,{a:o,b:a,n_draws:l,
compare:r}=t,{members:h,layout:c,state:d,el:f}=e,{offered:p}=h;this.a.show(o.method,t.radius,p,c.narrow),this.a.letter.textContent=a?"A":"",
this.b.node.hidden=!a,a&&r&&this.b.show(a.method,r.radius,p,c.narrow),s.value=String(l),s.disabled=[o,a].every(x=>!x||x.member.meta.n_draws===
1),i.textContent=s.disabled?"one point":at(l,"draw"),s.setAttribute("aria-valuetext",i.textContent),this.compare.setAttribute("aria-pressed",
String(!!a)),this.compare.textContent=a?"One state":"Compare",this.undo.disabled=!d.past.length,this.player.button.disabled=h.of(o.method).length<
2,this.reading.replaceChildren(...this.about(t,o,"A")),this.readingB.hidden=!a,a&&this.readingB.replaceChildren(...this.about(t,a,"B"));let g=c.
tabOf(t),m=e.frames.some(x=>c.inTab(x,g)&&Object.keys(x.entry(t.chosen).link).length>0);f.classList.toggle("fv-drawn",m),this.tabButtons.forEach(
(x,v)=>{let b=this.names[v]===g;x.setAttribute("aria-selected",String(b)),x.tabIndex=b?0:-1})}about(t,e,s){let{members:i,layout:o,hovered:a}=this.
page,l=t.n_draws,r=a??t.picked,c=o.narrow&&o.reads(t)?i.numbers(e,l):i.sentence(e,l),d=r===null?"":i.aboutDraw(e,r);return[(t.b?`${s}: `:"")+
c,u("span",{class:"fv-draw"},d)]}};var Ee=({option:n})=>Object.values(n).join(", "),bt=class{entries=[];menus={};made={};shown="";phases=null;tap=null;constructor({slot:t,group:e,
span:s,least:i},o){this.slot=t,this.group=e,this.span=s,this.least=i,this.choose=o,this.pair=u("div",{class:"fv-pair"}),this.caption=u("p"),
this.question=u("summary",{},"What is this?"),this.about=u("details",{open:""},this.question,this.caption),this.choice=u("div",{class:"fv-ch\
oice",hidden:""});let a=u("figcaption",{},this.about);this.node=u("figure",{},this.choice,this.pair,a)}add(t){this.entries.push(t),this.choice.
hidden=this.entries.length<2}offer(t){for(let e of Object.keys(this.entries[0].option)){let s=[...new Set(this.entries.map(({option:o})=>o[e]))],
i=u("select",{"aria-label":`${e} of this picture`},...s.map(o=>u("option",{value:o},o)));i.addEventListener("change",()=>this.pick(e,i.value,
t())),this.menus[e]=i,s.length>1&&this.choice.append(i)}}pick(t,e,s){let i=this.entry(s).option,o=({option:l})=>Object.keys(i).filter(r=>l[r]===
i[r]).length,a=this.entries.filter(({option:l})=>l[t]===e);this.choose(Ee(a.reduce((l,r)=>o(r)>o(l)?r:l)))}entry(t){return this.entries.find(
e=>Ee(e)===t[this.slot])??this.entries[0]}phase(t,e){this.phases=new ct(t,e),this.pair.after(this.phases.node)}};function _e(n){n.dataset.lmSuppressShortcuts="true";let t=e=>{!e.ctrlKey&&!e.metaKey&&!e.altKey&&!(e.shiftKey&&e.key==="Enter")&&e.stopPropagation()};
return n.addEventListener("keydown",t),()=>n.removeEventListener("keydown",t)}var Ut=640,Te=900,N=12,tt=n=>n.reduce((t,e)=>t+e,0),wt=class{tallest=new Map;constructor(t){this.page=t}tabOf({tab:t}){let{bar:e,printing:s}=this.
page;return s?"All":e.names.includes(t)?t:e.names[0]}inTab(t,e){return e==="All"||t.group===e}reads(t){return this.page.article.reads(t)&&!this.
page.printing}get narrow(){return this.page.el.clientWidth<Ut&&!this.page.printing}get screen(){return this.page.el.closest(".jp-Notebook, .\
jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}px(t){return this.page.grid.clientWidth*t/N}spread(t,e){let s=tt(e.map(({span:r})=>r)),
{clientWidth:i}=this.page.grid,o=e.map(({least:r})=>Math.ceil(N*r/i)),a=e.map(({span:r})=>Math.max(3,Math.round(N*r/s)));return a.some((r,h)=>r<
o[h])&&tt(o)<=N&&o.every(Boolean)&&(a=o),a[a.length-1]+=N-tt(a),a[e.indexOf(t)]}arrange(t){let{el:e,frames:s,bar:i,article:o,printing:a}=this.
page,{story:l}=o,r=e.clientWidth,h=this.tabOf(t),c=this.reads(t),d=r>=Te,f={narrow:r<Ut||a,beside:d&&!a,above:!d&&!a,two:t.b,reads:c,story:l.
length&&!a};for(let[v,b]of Object.entries(f))e.classList.toggle(`fv-${v}`,!!b);for(let v of[i.tabs,i.compare,i.undo])v.hidden=c||v===i.tabs&&
i.names.length<2;let p=s.filter(v=>this.inTab(v,h)),g=v=>this.px(this.spread(v,p))<v.least;if(c&&(!d||t.b||p.some(g))){let{see:v}=l[t.step].
set??{};p=[p.find(({entries:$})=>$.some(({name:w})=>w===v))??p[0]]}let m=this.columnsOf(p,t,h),x=r<Ut&&!a;for(let v of s)v.tap!==x&&(v.about.
open=!x),v.tap=x,v.node.hidden=!p.includes(v),c&&!d&&t.b?v.pair.tabIndex=0:v.pair.removeAttribute("tabindex"),v.node.style.gridColumn=`span ${m(
v)}`}columnsOf(t,{b:e},s){let i=tt(t.map(({span:d})=>d)),o=s!=="All"&&(i<=N||t.length<3)&&!e,a=d=>this.px(this.spread(d,t))<d.least;if(s!=="\
All"&&(e||o&&t.some(a)))return()=>N;if(o)return d=>this.spread(d,t);let l=this.page.el.clientWidth<1e3||!!e,r=(d,f)=>l?N/f.length:this.spread(
d,f),h=[],c=[];for(let d of t){let f=[...c,d],p=f.some(m=>this.px(r(m,f))<m.least),g=tt(f.map(({span:m})=>l?N/2:m))>N;f.length>1&&!p&&!g?c.push(
d):(c=[d],h.push(c))}return d=>r(d,h.find(f=>f.includes(d))??[d])}tall(t,e){let{el:s,bar:i}=this.page,o=i.work.note.textContent,a=[s.clientWidth,
!!e.b,this.reads(e),o].join(),l=this.tallest.get(t),r=l?.place===a?l.px:0,h=t.hidden?0:Math.max(t.offsetHeight,r);return this.tallest.set(t,
{place:a,px:h}),h}height(t,e){let{el:s,bar:i,stage:o,printing:a,frames:l}=this.page,r=y=>this.tall(y,t),{height:h,layout:c}=e.entry(t.chosen),
{screen:d}=this,f=this.reads(t),p=r(i.node),g=y=>y.phases?r(y.phases.node):0;if(f&&s.clientWidth<Te)return o.clientHeight-p-g(e)-r(e.question)-
r(e.choice)-24;if(t.b&&this.narrow)return Z(c).length>2?440:Math.max(230,Math.round((d-p-40)/2));let m=e.phases&&!f?R(c)+92+290:300,x=Math.max(
300,Math.min(m,d-p-44)),v=s.clientWidth<690?m:x;if(a)return h;if(this.tabOf(t)==="All")return Math.max(v,Math.min(h,d-p-40));let b=s.closest(
".jp-Notebook")?0:s.getBoundingClientRect().top+window.scrollY,$=t.b?36:80,w=y=>g(y)+(f?r(y.choice)+r(y.caption):$),k=f?l.filter(({node:y})=>!y.
hidden):[e],O=24+Math.max(...k.map(w)),S=s.clientWidth>=1e3&&b<.3*d?b+48:0,_=d-p-Math.max(O,S);return Math.round(Math.max(v,Math.min(t.b?440:
560,_)))}};var Ne=n=>t=>`${n} ${t.toFixed(3)}`,je={accuracy:n=>`accuracy ${(100*n).toFixed(1)} %`,nll:n=>`NLL ${n.toFixed(3)} nats`,ece:Ne("ECE"),rmse:n=>`\
RMSE ${E(n)}`},Ds={...je,accuracy:n=>`${(100*n).toFixed(1)} % right`,nll:Ne("NLL")},yt=class{constructor(t,e){this.index=t.index,this.fields=
t.index.fields,this.live=e,this.list=Mt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.list.filter(e=>e.
meta.method===t)}fitted(t){return this.of(t).filter(e=>!e.meta.note).map(e=>e.meta.radius).sort((e,s)=>e-s)}stops(t){let e=this.live?this.index.
stops[t]??[]:[];return[...new Set([...this.of(t).map(s=>s.meta.radius),...e])].sort((s,i)=>s-i)}standing(t,e){let s=this.methods.includes(t)?
t:this.methods[0],i=this.of(s);return{method:s,wanted:e,member:i[st(i.map(o=>o.meta.radius),e)]}}get offered(){return this.methods.map(t=>{let{
label:e,unit:s}=this.of(t)[0].meta;return{method:t,label:e,stops:this.stops(t),unit:s,first:this.index.defaults[t]}})}add(t){for(let e of Mt(
t)){let s=this.list.findIndex(i=>i.meta.method===e.meta.method&&i.meta.radius===e.meta.radius);s>=0&&(e.version=(this.list[s].version??0)+1),
s<0?this.list.push(e):this.list[s]=e}}ranges(t){let e={};for(let s of t.shared){let i=this.list.flatMap(o=>o.meta.ranges[t.name]?.[s]??[]);i.
length&&(e[s]=[Math.min(...i),Math.max(...i)])}return e}scores(t,e=je){return Object.entries(e).filter(([s])=>s in this.fields).map(([s,i])=>i(
t(s)))}sentence({method:t,member:e,wanted:s},i){let o=c=>U(this.fields,e,c),a=c=>o(c)[i-1],l=e.meta.radius,r=Math.abs(l-s)>1e-6*Math.max(1,s)&&
this.of(t).length>1?`radius ${E(s)} is not fitted; shown: `:"",h=l>0?`, radius ${E(l)}${e.meta.reach??""}`:e.meta.equals?`, radius 0, which \
is ${e.meta.equals}`:"";return`${r}${e.meta.label}${h}${e.meta.note??""}, ${at(Math.min(i,e.meta.n_draws),"draw")}: `+(Number.isFinite(a("nl\
l"))?`${this.scores(a).join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(o("lambda1")[0])?`largest eigenvalue λ₁ ${E(o(
"lambda1")[0])}.`:"no largest eigenvalue λ₁ was found.")}numbers({member:t},e){let s=o=>U(this.fields,t,o)[e-1],[i]=U(this.fields,t,"lamb\
da1");return Number.isFinite(s("nll"))?`${this.scores(s,Ds).join(", ")}, λ₁ ${E(i)}`:"diverged"}aboutDraw({member:t},e){let s=U(this.fields,
t,"draw loss")[e],i=U(this.fields,t,"draw distance")[e];return Number.isFinite(s)?` Draw ${e+1}: training loss ${E(s)}, ${E(i)} off the plan\
e.`:""}};var Ce=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
;
  --warn: #a33a00; font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink);
  background: var(--paper); text-align: left; }
.flatviz[data-theme=dark] { --ink: #e4e7eb; --soft: #b1bac4; --paper: #15191e; --panel: #20262d; --line: #3a434d; --track: #7b8794;
  --accent: #2fbf94; --warn: #ffa36b; color-scheme: dark; }
.flatviz *, .flatviz *::before { box-sizing: border-box; }
.flatviz [hidden] { display: none !important; }
.flatviz .fv-bar { position: sticky; top: var(--fv-top, 0px); z-index: 5; background: var(--paper); padding-bottom: 4px; }
.flatviz .fv-controls { display: flex; flex-wrap: wrap; gap: 4px 22px; align-items: center; padding: 5px 12px; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; position: relative; }
.flatviz label { display: flex; align-items: center; gap: 8px; font-weight: 600; margin: 0; }
.flatviz label output { font-weight: 400; min-width: 8.2em; font-variant-numeric: tabular-nums; }
.flatviz .fv-side { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; } .flatviz .fv-letter { font-weight: 700; color: var\
(--accent); }
.flatviz .fv-letter:empty { display: none; }
.flatviz select, .flatviz button, .flatviz input, .flatviz summary { font: inherit; color: inherit; }
.flatviz select, .flatviz button, .flatviz summary { padding: 3px 9px; background: var(--paper); border: 1px solid var(--track);
  border-radius: 6px; cursor: pointer; }
.flatviz button:disabled { opacity: .45; cursor: default; }
.flatviz :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.flatviz input[type=range] { -webkit-appearance: none; appearance: none; width: 150px; height: 24px; background: none; margin: 0; cursor: po\
inter;
  touch-action: pan-y; }
.flatviz input[type=range]::-webkit-slider-runnable-track { height: 6px; border-radius: 3px; background: var(--track); }
.flatviz input[type=range]::-moz-range-track { height: 6px; border-radius: 3px; background: var(--track); }
.flatviz input[type=range]::-webkit-slider-thumb { -webkit-appearance: none; width: 18px; height: 18px; margin-top: -6px; border-radius: 50%\
;
  background: var(--accent); border: 2px solid var(--paper); box-shadow: 0 0 0 1px var(--accent); }
.flatviz input[type=range]::-moz-range-thumb { width: 15px; height: 15px; border-radius: 50%; background: var(--accent); border: 2px solid v\
ar(--paper); }
.flatviz input[type=range]:disabled { opacity: .35; cursor: default; }
.flatviz .fv-strip { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: end; border-bottom: 1px solid var(--line); }
.flatviz .fv-buttons { display: flex; gap: 6px; margin-left: auto; align-items: center; padding-bottom: 3px; }
.flatviz .fv-menu { position: relative; margin: 0; } .flatviz .fv-menu summary { list-style: none; user-select: none; }
.flatviz .fv-menu summary::-webkit-details-marker { display: none; }
.flatviz .fv-menu > div { position: absolute; right: 0; top: calc(100% + 4px); z-index: 9; display: grid; min-width: 210px; padding: 6px;
  gap: 2px; background: var(--paper); border: 1px solid var(--track); border-radius: 8px; box-shadow: 0 4px 16px rgba(0, 0, 0, .25); }
.flatviz .fv-menu > div button { border: 0; text-align: left; } .flatviz .fv-menu > div button:hover { background: var(--panel); }
.flatviz .fv-work { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; padding: 5px 12px 0; font-variant-numeric: tabular-n\
ums; }
.flatviz .fv-work button { flex: none; } .flatviz .fv-work button:last-child { margin-left: auto; }
.flatviz .fv-work progress { flex: 0 1 130px; accent-color: var(--accent); } .flatviz .fv-work span { flex: 1 1 16em; }
.flatviz .fv-note { padding: 6px 12px; margin: 6px 0 0; border-left: 4px solid var(--warn); background: var(--panel); white-space: pre-wrap;\

  overflow-wrap: break-word; max-height: 12em; overflow-y: auto; }
.flatviz .fv-reading { margin: 4px 12px 0; min-height: 1.45em; font-variant-numeric: tabular-nums; }
.flatviz.fv-drawn .fv-draw { display: inline-block; min-width: min(100%, 26em); margin-left: .3em; }  /* its room is kept: no picture moves \
below the pointer */
.flatviz .fv-tabs { display: flex; flex-wrap: wrap; gap: 4px; }
.flatviz .fv-tabs button { border: 1px solid transparent; border-bottom: 3px solid transparent; border-radius: 6px 6px 0 0; background: none\
;
  color: var(--soft); padding: 4px 10px; }
.flatviz .fv-tabs button[aria-selected=true] { color: var(--ink); border-bottom-color: var(--accent); font-weight: 600; }
.flatviz .fv-body { display: grid; grid-template-columns: minmax(0, 1fr); }
/* the article: its text scrolls, and the stage with controls and pictures stays in sight, beside it or above; its last section stands over \
the stage */
.flatviz .fv-article { font-size: 17px; line-height: 1.5; }
.flatviz .fv-article section { padding-bottom: 64px; }
.flatviz.fv-beside .fv-article section:not(:last-child) { min-height: 50vh; }  /* past the line at which a section is read, 45 % of the scre\
en */
.flatviz .fv-article section:last-child { padding-bottom: 12px; }
.flatviz .fv-article h2 { margin: 0 0 8px; font-size: 22px; line-height: 1.25; color: inherit; }
.flatviz .fv-article p { margin: 0 0 12px; max-width: 66ch; }
.flatviz .fv-article .fv-equation { text-align: center; padding: 10px 0; overflow-x: auto; overflow-y: hidden; }
.flatviz .fv-equation math { font-size: 19px; font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, Georgia, serif; }
.flatviz .fv-stage { min-width: 0; background: var(--paper); grid-row: 2; grid-column: 1 / -1; }
.flatviz.fv-beside.fv-story .fv-body { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); column-gap: 36px; }
.flatviz.fv-reads .fv-article { padding-bottom: 60vh; }  /* where the stage will stand */
.flatviz.fv-reads .fv-stage { grid-row: 1; position: sticky; top: var(--fv-top, 0px); align-self: start; }
.flatviz.fv-beside.fv-reads .fv-stage { grid-column: 2; } .flatviz.fv-beside .fv-article section { scroll-margin-top: 12px; }
.flatviz.fv-beside:not(.fv-reads) .fv-article section:last-child { width: min(70ch, 70vw); }
.flatviz.fv-above.fv-story .fv-article { grid-area: 1 / 1; padding-top: calc(min(max(62svh, 430px), 75svh) + 12px); }
.flatviz.fv-above .fv-article section { scroll-margin-top: calc(min(max(62svh, 430px), 75svh) + 12px); }
.flatviz.fv-above.fv-reads .fv-stage { grid-area: 1 / 1; height: min(max(62svh, 430px), 75svh); overflow: hidden; z-index: 4; border-bottom:\
 2px solid var(--line); }
.flatviz.fv-above.fv-reads :is(.fv-draw, .fv-buttons, .fv-choice) { display: none; } .flatviz.fv-reads .fv-strip { border: 0; }
.flatviz.fv-above.fv-reads:is(:not(.fv-drawn), .fv-two) label:has(.fv-draws) { display: none; } .flatviz.fv-above.fv-reads .fv-phases output\
 { min-height: 1.45em; }
.flatviz.fv-above .fv-article section:not(:last-child) { min-height: 26svh; padding-bottom: 22px; } .flatviz.fv-narrow .fv-article { font-si\
ze: 16px; line-height: 1.45; } .flatviz.fv-narrow .fv-article p { margin-bottom: 8px; } .flatviz.fv-above .fv-article section:last-child { s\
croll-margin-top: 12px; }
.flatviz.fv-beside.fv-reads .fv-bar { display: grid; grid-template-columns: minmax(0, 1fr) auto; } .flatviz.fv-reads .fv-bar > :is(.fv-contr\
ols, .fv-work, .fv-note) { grid-column: 1 / -1; }
.flatviz.fv-beside.fv-reads :is(.fv-radius, .fv-draws) { width: 110px; } .flatviz.fv-beside.fv-reads .fv-controls { column-gap: 14px; } .fla\
tviz.fv-beside.fv-reads label output { min-width: 6em; }
.flatviz.fv-above.fv-reads figure { position: relative; } .flatviz.fv-above.fv-reads details[open] p { position: absolute; inset: auto 4px 4\
8px; z-index: 6; margin: 0; padding: 10px 12px; max-height: 70%;
  overflow-y: auto; background: var(--paper); border: 1px solid var(--track); border-radius: 8px; color: var(--ink); font-size: 14px; }
.flatviz .fv-figures { margin-top: 8px; display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 12px; align-items: start; }
.flatviz figure { margin: 0; padding: 4px 4px 6px; border: 1px solid var(--line); border-radius: 8px; min-width: 0; background: var(--paper)\
; }
.flatviz figcaption { padding: 0 10px; color: var(--soft); font-size: 12.5px; } .flatviz figcaption :is(details, p) { margin: 0; } .flatviz \
figcaption summary { display: none; }
.flatviz.fv-narrow figcaption summary { display: flex; align-items: center; border: 0; padding: 0; color: var(--accent); }
.flatviz .fv-choice { display: flex; flex-wrap: wrap; gap: 4px; justify-content: flex-end; padding: 2px 6px 0; } .flatviz .fv-choice select \
{ padding: 1px 4px; font-size: 13px; }
.flatviz .fv-phases { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; padding: 2px 10px 4px; font-size: 13px; }
.flatviz .fv-phases input { flex: 1 1 120px; max-width: 320px; } .flatviz .fv-phases output { flex: 1 0 100%; min-height: 2.9em; } .flatviz \
.fv-phases button { padding: 2px 9px; min-width: 8.4em; }
.flatviz .fv-pair { display: grid; grid-template-columns: minmax(0, 1fr); } .flatviz.fv-two .fv-pair { grid-template-columns: repeat(2, minm\
ax(0, 1fr)); }
.flatviz .fv-plot { position: relative; min-width: 0; } .flatviz .fv-plot > .fv-letter { position: absolute; left: 8px; top: 6px; z-index: 3\
; }
.flatviz .fv-waits > * { opacity: .3; } .flatviz .fv-waits::after { content: "being measured …"; position: absolute; inset: 45% 0 auto; text\
-align: center;
  color: var(--soft); } .flatviz .fv-waits { min-height: 120px; }
.flatviz .fv-ring { position: absolute; width: 22px; height: 22px; margin: -11px 0 0 -11px; border-radius: 50%; pointer-events: none; z-inde\
x: 2;
  border: 3px solid #d55e00; box-shadow: 0 0 0 2px #fff, inset 0 0 0 1.5px #fff; }
.flatviz .fv-rule { position: absolute; width: 0; border-left: 3px dotted #d55e00; pointer-events: none; z-index: 2; }
.flatviz.fv-narrow figure { grid-column: 1 / -1 !important; padding-inline: 0; } .flatviz.fv-narrow.fv-two:not(.fv-reads) .fv-pair { grid-te\
mplate-columns: minmax(0, 1fr); }
/* a method and its radius are one line of a phone */
.flatviz.fv-narrow .fv-side { width: 100%; gap: 2px 8px; flex-wrap: nowrap; } .flatviz.fv-narrow .fv-controls > label { width: 100%; } .flat\
viz.fv-narrow label { gap: 8px; }
.flatviz.fv-narrow .fv-side label { flex: 1; min-width: 0; } .flatviz.fv-narrow .fv-side label:has(.fv-method) { flex: 0 1 auto; } .flatviz.\
fv-narrow .fv-side label > span { display: none; }
.flatviz.fv-narrow .fv-method { width: 8.4em; padding-inline: 6px 2px; text-overflow: ellipsis; } .flatviz.fv-narrow label output { min-widt\
h: 5.2em; font-size: 13px; white-space: nowrap; }
.flatviz.fv-narrow .fv-controls { padding: 2px 8px; }
.flatviz.fv-narrow input[type=range] { flex: 1; width: auto; min-width: 60px; } .flatviz.fv-narrow .fv-buttons { margin-left: 0; }
.flatviz.fv-narrow .fv-reading { font-size: 12.5px; margin: 4px 2px; } .flatviz.fv-narrow .fv-tabs { gap: 1px; } .flatviz.fv-narrow .fv-tabs\
 button { padding: 3px 6px; font-size: 13px; }
.flatviz.fv-narrow .fv-buttons { position: relative; } .flatviz.fv-narrow .fv-menu { position: static; } .flatviz.fv-narrow .fv-menu > div {\
 right: auto; left: 0; }
.flatviz.fv-narrow :is(button, select, summary) { min-height: 44px; min-width: 44px; } .flatviz.fv-narrow .fv-menu summary { display: flex; \
align-items: center; }
.flatviz.fv-narrow input[type=range] { height: 44px; } .flatviz.fv-narrow .fv-controls { gap: 0 10px; } .flatviz.fv-narrow .fv-choice select\
 { max-width: calc(50% - 2px); }
.flatviz.fv-narrow .fv-tabs { flex-wrap: nowrap; overflow-x: auto; max-width: 100%; scrollbar-width: none; }
.flatviz.fv-narrow .fv-equation math { font-size: 16px; }
/* JupyterLab's boxes around an output would scroll, each by itself: the bar stays in sight of the notebook instead */
.jp-Cell:not(.jp-mod-outputsScrolled) .jp-Cell-outputArea:has(.flatviz), .jp-OutputArea-child:has(.flatviz), .jp-OutputArea-output:has(.flat\
viz),
.jp-OutputArea-output .widget-box:has(.flatviz) { overflow: visible !important; }
.flatviz abbr { cursor: help; } .flatviz abbr:focus::after { content: attr(title); position: fixed; left: 10px; bottom: 10px; z-index: 9; ma\
x-width: min(420px, calc(100vw - 40px));
  padding: 6px 9px; border: 1px solid var(--line); border-radius: 4px; background: var(--paper); color: var(--ink); font: 13px/1.4 system-ui\
, sans-serif; }
@media print {
  .flatviz .fv-bar { position: static; } .flatviz :is(.fv-buttons, .fv-tabs, .fv-phases, figcaption summary) { display: none; } .flatviz .fv\
-article section { min-height: 0 !important; }
  .flatviz figure { break-inside: avoid; grid-column: 1 / -1 !important; }
}
`;var Ws=100,Ps=1500;function Ht(n){return new Kt(n).handle}var Kt=class{frames=[];pending=[];hovered=null;timers={};waiting=!1;stopped=!1;printing=!1;placed=!1;stale=!0;forget=()=>{};constructor({
Plotly:t,model:e,el:s,bundle:i,ask:o=null,hash:a=!1,former:l=null}){let{index:r}=i;nt(r.dark),this.Plotly=t,this.model=e,this.el=s,this.index=
r,this.ask=o,this.hash=a,this.schedule=this.schedule.bind(this),this.members=new yt(i,!!(r.live&&o)),this.state=new pt(e,r,this.schedule,g=>this.
halt(Object.keys(g))),l&&(this.state.past=l.past,this.state.start=l.start),this.bar=new xt(this),this.grid=u("div",{class:"fv-figures",role:"\
tabpanel",id:this.bar.panel,"aria-label":"pictures",tabindex:0});let h=[this.bar.node,this.bar.copied.node,this.grid];this.stage=u("div",{class:"\
fv-stage"},...h);let c=()=>this.stopped||this.printing||!this.placed,{stage:d,state:f}=this;this.article=new gt(r.story??[],{el:s,stage:d,state:f,
resting:c}),s.classList.add("flatviz"),_e(s);let p=u("div",{class:"fv-body"},this.article.node,this.stage);s.replaceChildren(u("style",{},Ce),
p);for(let g of r.figures)this.place(g);for(let g of this.frames)g.offer(()=>this.state.all.chosen);this.layout=new wt(this),Le(this),this.schedule()}halt(t){
let e=s=>s.some(i=>t.includes(i));if(e(["method","radius","compare","step"])&&this.bar.player.halt(),!!e(["phase","chosen","tab","compare","\
step"]))for(let{phases:s}of this.frames)s?.player.halt()}current(){let t=this.state.all,{compare:e}=t;return{...t,a:this.members.standing(t.
method,t.radius),b:e&&this.members.standing(e.method,e.radius)}}get tools(){let{Plotly:t,index:e,members:s,state:i}=this;return{Plotly:t,index:e,
members:s.list,point:(o,a)=>this.point(o,a),choose:(o,a)=>this.choose(o,a),chosen:()=>i.all.chosen,redraw:this.schedule,replace:o=>o.light(this.
lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,e){this.state.change({chosen:{...this.state.all.chosen,[t]:e}})}place(t){
let{slot:e,group:s,phases:i}=t,o=e?this.frames.find(l=>l.slot===e&&l.group===s):null,a=o??new bt(t,l=>this.choose(e,l));o||(this.grid.append(
a.node),this.frames.push(a)),a.add(t),!(!i.length||a.phases)&&a.phase(l=>this.state.change({phase:l}),l=>this.playPhase(a,l))}playPhase(t,e){
let{state:s}=this,i=t.entry(s.all.chosen),o=ut(i,s.all),a=i.phases.length-1,l=e&&o===a?0:o+1;return l>a?!1:(e&&s.past.push(s.all),s.put({...s.
all,phase:l}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(t.made))}shown(){let{chosen:t}=this.state.all;return this.frames.
filter(({node:e})=>!e.hidden).flatMap(e=>{let s=e.entry(t);return["A","B"].map(o=>[o,s,e.made[s.name+o]]).filter(([,,o])=>o?.node.isConnected&&
o.state)})}later(t,e,s){clearTimeout(this.timers[t]),this.timers[t]=setTimeout(e,s)}schedule(){this.waiting||this.stopped||(this.waiting=!0,
requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&(this.el.isConnected?mt(this):setTimeout(this.schedule,Ws))}))}point(t,e){let{state:s}=this;
if(t==="click"){s.change({picked:s.all.picked===e?null:e});return}this.hovered!==e&&(this.hovered=e,this.bar.show(this.current()),this.mark())}mark(){
for(let t of this.pictures)t.light(t.plot.clientWidth?this.lit:null)}async photograph(){let{el:t,bar:e}=this;if(!t.isConnected||e.work.busy&&
t.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),Ps);return}let s=this.shown().slice(0,2),i=await Promise.all(s.map(([,,
o])=>o.image("png")));this.stopped||this.ask?.("picture",{images:i,text:e.spoken.innerText})}get handle(){let{state:t}=this;return{get history(){
return{past:t.past,start:t.start}},add:e=>this.add(e),status:e=>this.bar.work.show(e),lost:e=>this.lost(e),stop:()=>this.stop()}}add(t){this.
members.add(t);for(let e of t.index.figures??[]){let s=this.index.figures.find(({name:o})=>o===e.name),i=this.frames.find(({entries:o})=>o.some(
a=>a===s));if(!(!s||!i)&&(Object.assign(s,e),!(!e.data&&!e.layout)))for(let o of["A","B"])i.made[s.name+o]?.renew()}this.schedule()}lost(t){
this.members.live=!1,this.bar.work.lost(t),this.schedule()}stop(){this.stopped=!0,this.bar.player.halt();for(let{phases:t}of this.frames)t?.
player.halt();Object.values(this.timers).forEach(clearTimeout),this.forget();for(let{plot:t}of this.pictures)this.Plotly.purge(t)}};var Vt=n=>document.getElementById(n),Be=n=>JSON.parse(Vt(n).textContent??""),Is=()=>new Promise(n=>{requestAnimationFrame(()=>setTimeout(n))});
async function Re(n){let t=new Blob([Y(Be(n))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function qs(){performance.mark("flatviz-start");let n=Be("flatviz-start"),t=Vt("explorer"),e={get:l=>n[l],set:(l,r)=>{
n[l]=r},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await Is();let[s,i]=await Promise.all([Re("flatviz-index"),Re("flatviz-records")]),o=document.createElement("script");o.textContent=
Vt("plotly").textContent,document.head.append(o);let a={index:JSON.parse(new TextDecoder().decode(s)),buffer:Gt(i)};Ht({Plotly:globalThis.Plotly,
model:e,el:t,bundle:a,hash:!0})}return qe(Us);})();
