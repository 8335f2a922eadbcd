var flatvizExplorer=(()=>{var xt=Object.defineProperty;var Me=Object.getOwnPropertyDescriptor;var Oe=Object.getOwnPropertyNames;var Le=Object.prototype.hasOwnProperty;var Ee=(e,t)=>{for(var s in t)xt(e,s,{get:t[s],enumerable:!0})},Ae=(e,t,s,i)=>{if(t&&typeof t=="object"||typeof t=="function")for(let n of Oe(
t))!Le.call(e,n)&&n!==s&&xt(e,n,{get:()=>t[n],enumerable:!(i=Me(t,n))||i.enumerable});return e};var _e=e=>Ae(xt({},"__esModule",{value:!0}),e);var ls={};Ee(ls,{isDark:()=>Q,learnColors:()=>Z,onThemeChange:()=>tt,recolored:()=>T,show:()=>Nt,start:()=>rs});function gt(e){let{index:t}=e,s=e.buffer instanceof ArrayBuffer?e.buffer:e.buffer.buffer.slice(e.buffer.byteOffset,e.buffer.byteOffset+e.buffer.
byteLength),i=t.record;return t.members.map((n,o)=>({meta:n,data:new Float32Array(s,o*i*4,i),read:new Map}))}var K=e=>Uint8Array.from(atob(e),
t=>t.charCodeAt(0));function Dt(e){let t=e.length/4,s=new Uint8Array(e.length);for(let i=0;i<4;i++)for(let n=0;n<t;n++)s[4*n+i]=e[i*t+n];return s}
function Pt(e,[t,...s]){if(!s.length)return Array.from(e);let i=e.length/t;return Array.from({length:t},(n,o)=>Pt(e.subarray(o*i,(o+1)*i),s))}
function D(e,t,s){if(!t.read.has(s)){let{offset:i,shape:n}=e[s],o=t.data.subarray(i,i+n.reduce((a,r)=>a*r,1));t.read.set(s,Pt(o,n))}return t.
read.get(s)}function wt({field:e,rows:t},s,i,n,o){let a=i.meta.words[e];if(t==="phase")return(a??D(s,i,e))[o];if(a!==void 0)return a;let r=D(
s,i,e);return t==="draws"?r.slice(0,n):t==="segments"?r.slice(0,3*n):t==="size"?r[Math.min(n,r.length)-1]:r}function G(e,[t,...s],i){let n=Array.
isArray(e)?[...e]:{...e};return n[t]=s.length?G(n[t]??{},s,i):i,n}function yt(e,t,s){return Array.isArray(e)&&Array.isArray(t)?t.map((i,n)=>yt(
e[n],i,s)):typeof e=="number"&&typeof t=="number"?e+s*(t-e):s<.5?e:t}function X(e,t){let s=n=>n>0?Math.log10(n):-1/0,i=n=>n===t?0:Math.abs(s(
n)-s(t));return e.reduce((n,o,a)=>i(o)<i(e[n])?a:n,0)}var kt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function Z(e){for(let[t,s]of Object.
entries(e))kt[t]??=s}function Q(){let{body:e,documentElement:t}=document;return e.dataset.jpThemeLight?e.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function je(e,...t){let s=t.slice(0,3).map(r=>Number(r).toString(
16).padStart(2,"0")),i=kt[`#${s.join("")}`];if(!i||e.startsWith("rgba(255"))return e;let[n,o,a]=[1,3,5].map(r=>parseInt(i.slice(r,r+2),16));
return`rgba(${n}, ${o}, ${a}, ${t[3]})`}function T(e){return typeof e=="string"?e.length<4?e:e.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>kt[t.toLowerCase()]??
t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,je):Array.isArray(e)?typeof e[0]=="number"?e:e.map(T):e===null||typeof e!="object"||ArrayBuffer.
isView(e)?e:Object.fromEntries(Object.entries(e).map(([t,s])=>[t,t==="colorscale"||t==="bdata"?s:T(s)]))}function tt(e){let t=matchMedia("(p\
refers-color-scheme: dark)"),s=new MutationObserver(e);return s.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",e),()=>{s.disconnect(),t.removeEventListener(
"change",e)}}function u(e,t={},...s){let i=document.createElement(e);for(let[n,o]of Object.entries(t))typeof o=="function"?i.addEventListener(n.slice(2),
o):o!=null&&o!==!1&&i.setAttribute(n,o===!0?"":String(o));return i.append(...s.filter(n=>n!=null)),i}function A(e,t={},...s){let i=document.
createElementNS("http://www.w3.org/2000/svg",e);for(let[n,o]of Object.entries(t))i.setAttribute(n,String(o));return i.append(...s),i}var P=(e,t,s,i={})=>u(
"button",{type:"button",title:t,onclick:s,...i},e);var j=e=>Number(e.toPrecision(3)).toString(),et=(e,t)=>`${e} ${t}${e===1?"":"s"}`,st=globalThis.matchMedia?.("(prefers-reduced-motion: reduc\
e)")??{matches:!1};async function it(e){let t=new Image;return t.src=e,await t.decode(),t}function zt(e,t){let s=u("a",{href:e,download:t});
document.body.append(s),s.click(),s.remove()}var Ce="http://www.w3.org/1998/Math/MathML",Se={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Te=["max","min","log","KL","E"],Ne=[
"∑","max","min"],Be=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,N=(e,...t)=>({tag:e,inside:t});function Fe(e){let s=(e.replace(
/\\text\{[^}]*\}/g,l=>l.replaceAll(" "," ")).match(Be)??[]).filter(l=>!/^ +$/.test(l)),i=0,n=()=>{let l=[];for(;i<s.length&&s[i]!=="}";)l.push(
a());return i+=1,l.length===1?l[0]:N("mrow",...l)},o=()=>{let l=s[i++]??"";if(l==="{")return n();let d=l.startsWith("\\")?l.slice(1):"";if(d===
"frac")return N("mfrac",o(),o());if(d==="sqrt")return N("msqrt",o());if(d==="text"){let h=++i;for(;i<s.length&&s[i]!=="}";)i+=1;return{tag:"\
mtext",text:s.slice(h,i++).join("")}}if(Te.includes(d))return{tag:"mo",text:d};let c=d?Se[d]??d:l;return/^[0-9.]+$/.test(c)?{tag:"mn",text:c}:
c.endsWith("′")?N("mrow",{tag:"mi",text:c[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(c)?{tag:"mi",text:c}:{tag:c===" "?"mtext":"mo",text:c}},
a=()=>{let l=o(),d={};for(;s[i]==="_"||s[i]==="^";)d[s[i++]]=o();let{_:c,"^":h}=d,f=Ne.includes(l.text??"");return c&&h?N(f?"munderover":"ms\
ubsup",l,c,h):c?N(f?"munder":"msub",l,c):h?N("msup",l,h):l},r=[];for(;i<s.length;)r.push(a());return N("math",N("mrow",...r))}function Wt({tag:e,
text:t,inside:s=[]}){let i=document.createElementNS(Ce,e);return t&&(i.textContent=t),t==="′"&&i.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&i.setAttribute("stretchy","false"),i.append(...s.map(Wt)),i}function Rt(e){let t=Wt(Fe(e));return t.setAttribute("display","blo\
ck"),t}var H=class{method;wanted;stops;stopsOf;first;constructor(t,s){this.change=s,this.remembered={};let i=t?` ${t}`:"";this.letter=u("span",{class:"\
fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`method${i}`}),this.radius=u("input",{type:"range",
class:"fv-radius",min:0,step:1,"aria-label":`radius${i}`}),this.text=u("output"),this.node=u("div",{class:"fv-side"},this.letter,u("label",{},
u("span",{},`method${i}`),this.select),u("label",{},u("span",{},`radius${i}`),this.radius,this.text)),this.select.addEventListener("change",
()=>{this.remembered[this.method]=this.wanted;let n=this.select.value,o=this.stopsOf(n);s({method:n,radius:this.remembered[n]??this.first(n)??
o[Math.ceil((o.length-1)/2)]})}),this.radius.addEventListener("input",()=>s({radius:this.stops[Number(this.radius.value)]}))}show(t,s,i,n=!1){
let o=i.map(([l,,d])=>`${l}:${d.length}`).join()+t;o!==this.key&&(this.key=o,this.stopsOf=l=>i.find(d=>d[0]===l)[2],this.first=l=>i.find(d=>d[0]===
l)[4],this.select.replaceChildren(...i.map(([l,d])=>{let c=u("option",{value:l},d);return c.selected=l===t,c}))),this.method=t,this.wanted=s,
this.stops=this.stopsOf(t),this.radius.max=Math.max(1,this.stops.length-1),this.radius.disabled=this.stops.length<2,this.radius.value=X(this.
stops,s);let a=i.find(l=>l[0]===t)[3],r=this.stops.length<2?"none":`${j(s)} ${a}${s===0?" (= VI)":""}`;this.text.textContent=n?this.stops.length<
2?"no radius":`radius ${j(s)}`:r,this.radius.setAttribute("aria-valuetext",r)}},De=1200,Pe={duration:800,easing:"cubic-in-out"},J=class{every;next;text;constructor(t,s,{
text:i="Play",every:n=De}={}){this.next=t,this.text=i,this.every=n,this.timer=0,this.button=P(i,s,()=>this.timer?this.halt():this.go(!0))}get glide(){
return this.timer&&!st.matches?Pe:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.every),this.next(t)?this.button.textContent="Pause":
this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},It=900,We=1900,nt=class{constructor(t,s){this.player=
new J(s,"ascend, gradient there, step back, descend",{text:"Play the step",every:We}),this.slider=u("input",{type:"range",class:"fv-phase",min:0,
step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener("input",()=>t(Number(this.slider.value))),this.
node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,this.slider,this.text)}show(t,s){if(this.
node.hidden=!t.length,!t.length)return;let[i,n]=t[s];this.slider.max=t.length-1,this.slider.value=s,this.slider.setAttribute("aria-valuetext",
`${s+1} of ${t.length}: ${i}`),this.text.replaceChildren(u("b",{},i),`: ${n}`)}};function qt(e,t){let s=u("div",{}),i=u("details",{class:"fv\
-menu"},u("summary",{},e),s);for(let[n,o]of t){let a=()=>{i.open=!1,o()};s.append(u("button",{type:"button",onclick:a},n))}return i.addEventListener(
"keydown",n=>{n.key==="Escape"&&(i.open=!1,i.firstChild.focus())}),i.addEventListener("focusout",n=>{n.relatedTarget&&!i.contains(n.relatedTarget)&&
(i.open=!1)}),i}var Re={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"\
negative log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the\
 share of right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler diverg\
ence: how far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function Ut(e){let t=new Set,
s=i=>i.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((n,o)=>o%2===0||t.has(n)?n:(t.add(n),u("abbr",{title:Re[n],tabindex:0},n)));return e.split(
`
`).filter(Boolean).map(i=>i.startsWith("= ")?u("p",{class:"fv-equation"},Rt(i.slice(2))):u("p",{},...i.split("**").flatMap((n,o)=>o%2?u("b",
{},...s(n)):s(n))))}var B=e=>e.margin?.t??e.template.layout.margin.t;function Kt({layout:e,data:t},s,i,n){if(!e.yaxis?.scaleanchor||e.xaxis2)return null;let[o,a]=[
"xaxis","yaxis"].map(h=>s[h]??e[h].range),r=t.some(h=>h.colorbar)?130:20,l=o&&a?(o[1]-o[0])/(a[1]-a[0]):1,d=Ie({data:t,layout:e}).reduce((h,f)=>h+
44+7.2*f.length,0),c=Math.min(i-60-r-(n-B(e)-92)*l,i-60-r-d)/2;return c<8?null:{margin:{...e.margin,t:B(e),l:60+c,r:r+c}}}function Ht(e,t){let s=[
"",2,3,4].filter(r=>e[`xaxis${r}`]),i=s.length>1&&s.every(r=>!e[`yaxis${r}`].domain);if(t>=460||!i)return e;let n=.1,o=(1-n*(s.length-1))/s.
length,a={};return s.forEach((r,l)=>{let d=1-l*(o+n),c=l===s.length-1;a[`xaxis${r}`]={...e[`xaxis${r}`],domain:[0,1],showticklabels:c,title:c?
e[`xaxis${r}`].title:""},a[`yaxis${r}`]={...e[`yaxis${r}`],domain:[Math.max(0,d-o),d],showticklabels:!0,nticks:4,title:l===1?e.yaxis.title:""}}),
{...e,...a,margin:{...e.margin,t:58}}}function Ie({data:e,layout:t}){return t.showlegend===!1?[]:e.filter(s=>s.mode&&s.name&&s.showlegend!==
!1&&s.visible!==!1).map(s=>s.name)}function Jt({data:e,layout:t},s,i){let n=i-(t.margin?.t??76)-(t.margin?.b??92),o=p=>({...p,title:{...p.title,
font:{...p.title.font,size:Math.max(10,Math.min(15,n/(.54*p.title.text.length)))}}}),a=e.map(p=>p.colorbar?.title?.text?{...p,colorbar:o(p.colorbar)}:
p),{scene:r}=t,l=460/s;for(let p of Object.keys(t).filter(x=>/^[xy]axis\d*$/.test(x))){let x=t[p],[b,m]=x.domain??[0,1],z=p[0]==="y"?n:s-60,
[w]=(x.title?.text??"").split("<br>"),M=z*(m-b)/(.54*w.replace(/<[^>]*>/g,"").length);M<15&&(t={...t,[p]:{...x,title:{...x.title,font:{...x.
title.font,size:Math.max(9,M)}}}})}if(!r?.camera||l<=1)return{data:a,layout:t};let d=Object.fromEntries(Object.entries(r.camera.eye).map(([p,
x])=>[p,x*l**.7])),c=({title:p})=>p.text.replace(/ of [^)]*\)/,")"),h=(p,x)=>({...p,title:{...p.title,text:x,font:{size:10}},tickfont:{size:9}}),
f={xaxis:h(r.xaxis,c(r.xaxis)),yaxis:h(r.yaxis,c(r.yaxis)),zaxis:h(r.zaxis,"")};return{data:a,layout:{...t,scene:{...r,...f,camera:{...r.camera,
eye:d}}}}}function Yt({data:e,layout:t,phases:s},i,n){let o=Math.max(0,B(t)-76)+(t.annotations?.some(r=>r.yref==="paper"&&r.y>=1)?16:0),a=(n?12:36)+Math.
min(34,o)+17*Gt({data:Mt(e),layout:t},i).length;return{margin:{...t.margin,...s.length?{t:a,b:8,l:8,r:8}:{t:a,b:48,l:i<240?40:50,r:12}}}}function Gt({
data:e,layout:t},s){if(t.showlegend===!1)return[];let i=[],n=0;for(let{name:o,mode:a,marker:r,line:l,showlegend:d,visible:c}of e){if(!a||!o||
d===!1||c===!1)continue;let h=/markers/.test(a)&&typeof r?.color=="string"?r.color:l?.color??"#1f2933",f=26+6.6*o.length,p=/markers/.test(a)?
/cross/.test(r?.symbol)?"✚":"●":"–";f>n&&(i.push([]),n=s-24),n-=f,i.at(-1)?.push(`<span style="color:${h}">${p} ${o}</span>`)}return i.
map(o=>o.join("   "))}function Xt(e,t){let s=Gt(e,t),{annotations:i=[],margin:n}=e.layout;if(!s.length)return{};let o={x:0,y:1,xref:"paper",
yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-n.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...i,{...o,text:s.
join("<br>"),font:{size:11}}]}}var Vt=e=>e.type==="scatter"&&/lines/.test(e.mode)&&e.name?.length<11;function Mt(e){if(e.some(i=>i.type==="s\
catter"&&i.mode==="markers"&&i.visible!==!1))return e;let t=e.filter(i=>Vt(i)&&i.showlegend!==!1&&i.visible!==!1).length,s=0;return e.map(i=>{
if(!Vt(i)||i.showlegend===!1||i.visible===!1)return i;let n=i.y?.length??atob(i.y?.bdata??"").length/Number(i.y?.dtype?.[1]??8),o=n>2&&n<60?
Math.max(0,n-1-s++*Math.max(1,Math.floor(n/t))):n-1,a=Array.from({length:n},(r,l)=>l===o?i.name:"");return{...i,showlegend:!1,mode:`${i.mode}\
+text`,text:a,textposition:n<60?"top left":"top center",textfont:{size:12,color:i.line?.color},cliponaxis:!1}})}function Zt(e,{phases:t}){return e.
colorbar?t.length?{...e,showscale:!1}:{...e,colorbar:{...e.colorbar,thickness:9,xpad:4,tickfont:{size:10},title:{...e.colorbar.title,font:{size:10.5}}}}:
e}var Qt=({xaxis:e})=>{let[,...t]=(e?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};
function te(e,{phases:t},s){let[,...i]=(e.title?.text??"").split("<br>"),n={...e.title,text:s?i.join("<br>"):e.title?.text,font:{...e.title?.
font,size:12}},o=c=>Math.max(...c.split("<br>").map(h=>h.length)),a=e.annotations?.map(c=>({...c,font:{...c.font,size:o(c.text??"")>54?8.5:10}})),
r={...e.legend,font:{...e.legend?.font,size:11}},{xaxis:l}=e,d=l?.title?.text?.split("<br>")[0];if(t.length)for(let c of["xaxis","yaxis"])e=
{...e,[c]:{...e[c],title:{text:""},showticklabels:!1,ticks:"",automargin:!1}};return{...e,title:n,legend:r,...d&&!t.length?{xaxis:{...l,title:{
...l.title,text:d}}}:{},...a?{annotations:a}:{}}}var Ot=e=>`${e[0]}axis${e.slice(1)}`;var qe=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,se=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
ie={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},Lt=["contour","heatmap"];function ot(e,t){return Array.
isArray(e)&&Array.isArray(t)?e.length===t.length&&e.every((s,i)=>ot(s,t[i])):Object.is(e,t)}function ee(e,t,s){let i=t.split("."),n=i.pop();
i.reduce((o,a)=>o[a],e)[n]=s}function Et(e,t,s,i,n){let o=[],a={};for(let[c,h]of s){let[,f,p]=c.match(qe)??[];if(f!==void 0&&Array.isArray(h)&&
Number.isInteger(t._fullData?.[f]?.index))o.push([Number(f),p,h]);else if(se.test(c))a[c]=h;else return!1}let r=[...new Set(o.map(([c])=>c))].
filter(c=>t._fullData[c].visible===!0);if(!r.every(c=>Ke(t,t._fullData[c])))return!1;for(let[c,h,f]of o)ee(t.data[c],h,f),r.includes(c)&&ee(
t._fullData[c],h,f);if(!r.every(c=>He(t,c)))return!1;Ue(e,t,a);let l=new Set(r.map(c=>`${t._fullData[c].type} ${q(t._fullData[c])}`));return new Set(
[...l].map(c=>Ve(t,n?null:r,...c.split(" "),i))).forEach(c=>c?.style(t)),!0}function Ue(e,t,s){let i={};for(let[n,o]of Object.entries(s)){let[
,a,r,l]=n.match(se)??[];t.layout[a][r][l]=o,i[`${a}[${r}].opacity`]=t.layout[a][r].opacity??1}Object.keys(i).length&&e.relayout(t,i)}var q=e=>e.
xaxis+e.yaxis;function Ke(e,t){let s=e._fullLayout?._plots?.[q(t)],i=ie[t.type];if(!s||!i||t.zorder||!e.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:n,plot:o,style:a}=t._module;return[n,o,a].every(r=>typeof r=="function")&&!s.plot.select(`.${i}`).empty()}function He(e,t){let s=e.
_fullData[t],{t:i}=e.calcdata[t][0],n=e._fullLayout._plots[q(s)],o=[n.xaxis,n.yaxis].filter(d=>d.autorange),a=()=>Lt.includes(s.type)||o.every(
d=>Je(e,s,d)),r=a();Lt.includes(s.type)||(s._length=Math.min(s.x.length,s.y.length));let l=s._module.calc(e,s);return l[0].trace=s,l[0].t={...i,
...l[0].t},e.calcdata[t]=l,r&&a()}function Je(e,t,s){let n=e._fullData.find(c=>Lt.includes(c.type)&&c.visible===!0&&q(c)===q(t))?._extremes?.[s.
_id],o=t._extremes?.[s._id];if(!n?.min?.length||!o)return!1;let a=Math.abs(s.range[1]-s.range[0])/s._length,r=Math.min(...n.min.map(c=>c.val)),
l=Math.max(...n.max.map(c=>c.val)),d=({pad:c,extrapad:h})=>a*(c+(h?s._length/20:0));return o.min.every(c=>c.val-d(c)>=r)&&o.max.every(c=>c.val+
d(c)<=l)}function Ve(e,t,s,i,n){let o=e._fullLayout._plots[i],a=e.calcdata.filter(([{trace:h}])=>h?.type===s&&h.visible===!0&&h._length!==0&&
q(h)===i),{_module:r}=a[0][0].trace,l=o.plot.select(`.${ie[s]}`);if(r.crossTraceCalc?.(e,o),a.forEach(Ye),s!=="scatter")return r.plot(e,o,a,
l),r;let c=l.selectAll("g.trace").size()===a.length&&t&&!n&&a.every(([{trace:h}])=>!/^tonext/.test(h.fill)&&!h.stackgroup);return c?a.filter(
([{trace:h}])=>t.includes(h.index)).forEach(h=>r.plot(e,o,[h],l,{duration:0})):r.plot(e,o,a,l,n),o.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),c&&!a.some(([{trace:h}])=>h.error_y?.visible||h.error_x?.visible)?null:r}function Ye(e){let{error_y:t}=e[0].trace;t?.visible&&
e.forEach((s,i)=>{let n=s.i??i,o=t.array[n],a=(t.symmetric?t.array:t.arrayminus)[n];Number.isFinite(s.y)&&Number.isFinite(o)&&Number.isFinite(
a)&&Object.assign(s,{yh:s.y+o,ys:s.y-a})})}function At(e){for(let{plot:t}of Object.values(e._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Ge=matchMedia("(pointer: coarse)"),U=class{entry;tools;state;scene;revision;member;constructor(t,s,i){this.entry=t,this.tools=i,this.state=
"",this.width=0,this.revision=0,this.glides=0,this.mark=u("span",{class:"fv-letter",hidden:""},s),this.plot=u("div",{role:"group"}),this.node=
u("div",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,s,{height:i,most:n=1/0,width:o=this.plot.clientWidth,dark:a,phone:r=!1,ranges:l,
transition:d,at:c=0}){let{entry:h,plot:f,tools:p}=this,{index:x,Plotly:b}=p,m=o<460&&Yt(h,o,r);if(this.narrow=!!m&&r,h.layout.yaxis?.scaleanchor&&
!h.layout.xaxis2){let{t:v,b:k,l:W,r:C}=(m||null)?.margin??{},R=m?v+k+o-W-C-(h.phases.length?0:66):B(h.layout)+o-100;i=Math.round(m?Math.min(
R,Math.max(n,v+k+85)):Math.max(300,Math.min(i,R)))}if(h.layout.yaxis?.scaleanchor&&h.layout.xaxis2&&!m){let v=Object.keys(h.layout).filter(k=>/^xaxis\d*$/.
test(k)).length;i=Math.round(Math.max(300,Math.min(i,B(h.layout)+(o-160)/v+70)))}m&&h.phases.length&&(l=this.low(l,(i-m.margin.t-m.margin.b)/
(o-m.margin.l-m.margin.r),s));let z=m||Kt(h,l,o,i),w=h.binds.some(v=>v.rows!=="all"&&v.rows!=="phase"),M=[z&&o,a,i,JSON.stringify(l)].join("\
/"),O=[M,t.meta.method,t.meta.radius,t.version??0,w?s:""].join("/"),L=`${O}/${c}`;if(this.state===L)return this.resize(o),!1;let g=!this.state,
y=h.binds.map(v=>wt(v,x.fields,t,s,c));if(this.place===O&&!st.matches)return this.slide(y,{state:L,at:c,dark:a}),!1;this.place=O,h.phases.length&&
(f.dataset.phase=c);let E=g||this.scene!==M?null:h.binds.flatMap(({path:v},k)=>ot(y[k],this.values[k])?[]:[[v,a?T(y[k]):y[k]]]);this.state=L,
this.scene=M,this.member=t,this.values=y;let _=performance.now()<this.glides;if(_&&At(f),this.glides=d?performance.now()+d.duration+100:0,E&&
Et(b,f,E,d,_))return this.resize(o),this.spread(),!0;let $={data:h.data,layout:{...h.layout,height:i,uirevision:"kept",datarevision:++this.revision}};
h.binds.forEach((v,k)=>{$=G($,v.path.split("."),y[k])});for(let[v,k]of Object.entries(l))$=G($,["layout",v,"range"],k);return z&&($.layout={
...$.layout,margin:z.margin}),$.layout=Ht($.layout,o),$=Jt($,o,i),m&&($.data=Mt($.data).map(v=>Zt(v,h))),this.print=m?Qt($.layout):"",m&&($.
layout=te({...$.layout,...Xt($,o)},h,r)),Ge.matches&&($.layout.dragmode=!1),a?$={data:T($.data),layout:T($.layout)}:$={data:$.data.map(v=>({
...v})),layout:$.layout},this.width=o,f.style.height=`${i}px`,b.react(f,$.data,$.layout,x.config),g?this.listen():f._fullLayout.width!==o&&b.
Plots.resize(f),this.spread(),!0}low(t,s,i){let{entry:n,tools:o}=this,[a,r]=["xaxis","yaxis"].map(h=>t[h]??n.layout[h].range),l=(r[0]+r[1])/
2,d=n.binds.filter(({path:h})=>h.endsWith(".y")),c=s*(a[1]-a[0])/2;for(let h of d)for(let f of o.members)for(let p of n.phases.keys())for(let x of wt(
h,o.index.fields,f,i,p))c=Math.max(c,1.06*Math.abs(x-l)||0);return c<r[1]-l?{...t,yaxis:[l-c,l+c]}:t}slide(t,{state:s,at:i,dark:n}){let{entry:o,
plot:a,tools:r}=this,l=this.values,d=performance.now(),c=d<this.glides;c&&At(a),this.state=s,this.glides=0,delete a.dataset.phase;let h=()=>{
if(this.state!==s)return;let f=Math.min(1,(performance.now()-d)/It),p=f*f*(3-2*f),x=t.map((z,w)=>o.binds[w].rows==="phase"?yt(l[w],z,p):z),b=o.
binds.flatMap(({path:z},w)=>ot(x[w],this.values[w])?[]:[[z,n?T(x[w]):x[w]]]);this.values=x;let m=a.clientWidth&&Et(r.Plotly,a,b,void 0,c);c=
!1,m?f<1?requestAnimationFrame(h):(a.dataset.phase=i,this.spread()):(this.renew(),r.redraw())};requestAnimationFrame(h)}spread(){if(!this.entry.
phases.length)return;let{left:t,right:s,top:i,bottom:n}=this.plot.querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.getBoundingClientRect()??
{},o=[];for(let a of this.plot.querySelectorAll(".scatterlayer .textpoint")){a.style.transform="";let r=a.getBoundingClientRect();if(!r.width)
continue;let l=([h,f])=>({left:r.left+h,right:r.right+h,top:r.top+f,bottom:r.bottom+f}),d=h=>{let f=l(h);return f.left>t&&f.right<s&&f.top>i&&
f.bottom<n&&o.every(p=>f.right<p.left||f.left>p.right||f.bottom<p.top+3||f.top>p.bottom-3)},c=[0,14,26,40].flatMap(h=>[[0,-h],[0,h],[h,0],[-h,
0],[h,-h],[-h,-h],[h,h],[-h,h]]).find(d);a.style.visibility=c?"":"hidden",c&&(a.style.transform=`translate(${c[0]}px, ${c[1]}px)`,o.push(l(c)))}}renew(){
this.state&&(this.state="elsewhere",this.scene="",this.place="")}describe(t){this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){
let s=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(s-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){
let t=i=>this.drawOf(i.points?.[0]),s=i=>n=>{let o=t(n);o!==null&&this.tools.point(i,o)};this.plot.on("plotly_hover",s("hover")),this.plot.on(
"plotly_click",s("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),this.plot.on("plotly_relayout",()=>this.tools.replace(
this))}drawOf(t){if(!t)return null;let{link:s}=this.entry,i=s[t.data.name];return i==="draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/
this.perDraw(t.data)):s.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){
this.rings.forEach(r=>r.remove()),this.rings=[];let s=this.plot._fullLayout;if(t===null||!this.state||!s)return;let i=(r,l)=>{let d=u("div",
{class:r,style:Object.entries(l).map(([c,h])=>`${c}:${h.toFixed(1)}px`).join(";")});this.rings.push(d),this.node.append(d)},{link:n}=this.entry,
o=this.plot.offsetTop,a=this.plot.offsetLeft;for(let r of this.plot._fullData){let l=n[r.name],d=s[Ot(r.xaxis??"x")],c=s[Ot(r.yaxis??"y")];if(!l||
!d?.d2p||!r.x)continue;let h=l==="draws"?1:this.perDraw(r);for(let f=t*h;f<(t+1)*h&&f<r.x.length;f++){let p={left:a+d._offset+d.d2p(r.x[f]),
top:o+c._offset+c.d2p(r.y[f])};Number.isFinite(p.left)&&Number.isFinite(p.top)&&i("fv-ring",p)}}if(n.x==="sizes"&&s.xaxis?.d2p){let{t:r,h:l}=s.
_size;i("fv-rule",{left:a+s.xaxis._offset+s.xaxis.d2p(t+1),top:o+r,height:l})}}image(t,s=1){let{width:i,height:n}=this.plot._fullLayout;return this.
tools.Plotly.toImage(this.plot,{format:t,width:i,height:n,scale:s})}};var Xe=255,Ze=254;function jt(e){if(!e.images){let{pool:t,labels:s,shown:i,nats:n,n_draws:o,classes:a,probs:r}=e.meta.images,l=K(r);e.images=
{classes:a,kept:d=>Math.min(d,o),prob(d,c,h){let f=l[(d*t.length+c)*a.length+h];return f===Xe?NaN:f/Ze},of:d=>i[d-1].map((c,h)=>({place:c,row:t[c],
label:s[c],nats:n[d-1][h]}))}}return e.images}var _t=new WeakMap;function ne(e,...t){for(let s of t){let i=s?.rows?.indexOf(e)??-1;if(i<0)continue;
_t.has(s)||_t.set(s,{bytes:K(s.pixels),urls:new Map});let{bytes:n,urls:o}=_t.get(s),[a,r,l=1]=s.shape;if(!o.has(e)){let d=u("canvas",{width:r,
height:a}),c=d.getContext("2d"),h=c.createImageData(r,a);for(let f=0;f<a*r;f++){for(let p=0;p<3;p++)h.data[4*f+p]=n[i*a*r*l+f*l+(l>1?p:0)];h.
data[4*f+3]=255}c.putImageData(h,0,0),o.set(e,d.toDataURL())}return o.get(e)}return""}var at=12,V=(e,t)=>e.length>t?`${e.slice(0,Math.max(1,
t-1))}…`:e,oe=e=>`${(100*e).toFixed(0)} %`;function ae(e,t,{left:s,top:i,width:n,height:o,turned:a,foot:r}){let{now:l,n:d,ink:c,lit:h}=e,{classes:f}=t,p=t.kept(d),x=n/f.length,b=g=>s+
(g+.5)*x,m=g=>i+(1-g)*o;e.chart={x:b,y:m,step:x,items:t};let z=A("g",{"data-chart":l.row}),w=(g,y)=>z.append(A("text",y,g));z.append(A("rect",
{x:s,y:i,width:n,height:o,fill:"transparent"}));for(let g of[0,.25,.5,.75,1])z.append(A("line",{x1:s,x2:s+n,y1:m(g),y2:m(g),stroke:c.line})),
w(g,{x:s-6,y:m(g)+4,"text-anchor":"end",fill:c.soft});let{color:M}=e.member.meta.images;f.forEach((g,y)=>{let E=Array.from({length:p},($,v)=>t.
prob(v,l.place,y)).reduce(($,v)=>$+v,0)/p;Number.isFinite(E)&&z.append(A("rect",{class:"fv-mean",x:b(y)-.36*x,y:m(E),width:.72*x,height:E*o,
fill:M,"fill-opacity":e.dark?.6:.35}));let _={x:b(y),y:i+o+16,"text-anchor":a?"end":"middle","font-weight":y===l.label?700:400};w(V(g,at),a?
{..._,transform:`rotate(-40 ${b(y)} ${i+o+16})`}:_)});let O=g=>f.map((y,E)=>[b(E),m(t.prob(g,l.place,E))]).filter(([,y])=>Number.isFinite(y)).
map(y=>y.map(E=>E.toFixed(2)).join(",")).join(" "),L=(g,y)=>z.append(A("polyline",{"data-draw":g,points:O(g),fill:"none","stroke-linejoin":"\
round",...y}));for(let g=0;g<p;g++)L(g,{stroke:e.dark?c.ink:M,"stroke-width":1.2,"stroke-opacity":.55});return h!==null&&h<p&&L(h,{stroke:c.
mark,"stroke-width":3.5}),w(`Test image ${l.row}, label ${f[l.label]}`,{x:s-30,y:i-36,"font-size":15}),w(p===1?"one draw: its probabilities":
`bars: mean of ${p} draws; lines: single draws${h!==null&&h<p?`; thick: draw ${h+1}`:""}`,{x:s-30,y:i-16,fill:c.soft}),w("class (bold: the l\
abel)",{x:s+n/2,y:i+o+r,"text-anchor":"middle",fill:c.soft}),z}var rt=class extends U{chosen;n;height;dark;chart;ink;constructor(t,s,i){super(t,s,i),this.lit=this.pointed=null;let n=a=>a.target.closest?.(
"[data-row]"),o=a=>a.target.closest?.("[data-chart]");this.plot.addEventListener("pointermove",a=>{let r=n(a);r?this.show(Number(r.dataset.row)):
o(a)&&this.point("hover",a)}),this.plot.addEventListener("pointerleave",()=>{this.show(null),this.tools.point("hover",null)}),this.plot.addEventListener(
"click",a=>{let r=n(a);r?this.tools.choose("image",r.dataset.row):o(a)&&this.point("click",a)}),this.plot.addEventListener("keydown",a=>{let r=n(
a);r&&(a.key==="Enter"||a.key===" ")&&(a.preventDefault(),this.tools.choose("image",r.dataset.row))}),this.plot.addEventListener("focusin",a=>{
let r=n(a);r&&!this.painting&&this.show(Number(r.dataset.row))})}draw(t,s,{height:i,width:n=this.plot.clientWidth,dark:o}){let{tools:a}=this,
r=a.chosen().image??"",l=[n,t.meta.method,t.meta.radius,t.version??0,s,o,i,r].join("/");return this.state===l?!1:(r!==this.chosen&&(this.pointed=
null),this.state=l,this.member=t,this.n=s,this.height=i,this.dark=o,this.chosen=r,this.width=n,this.paint(),!0)}resize(){!this.state||!this.
plot.clientWidth||this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,this.paint())}light(t){this.lit===t||!this.state||(this.
lit=t,this.paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,s){let{left:i,top:n}=this.plot.firstChild.
getBoundingClientRect(),{x:o,y:a,step:r,items:l}=this.chart,d=Math.max(0,Math.min(l.classes.length-1,Math.floor((s.clientX-i-o(0)+r/2)/r))),
c=f=>{let p=l.prob(f,this.now.place,d);return Number.isFinite(p)?Math.abs(a(p)-(s.clientY-n)):1/0},h=Array.from({length:l.kept(this.n)},(f,p)=>p).
reduce((f,p)=>c(p)<c(f)?p:f,0);c(h)<14?this.tools.point(t,h):t==="hover"&&this.tools.point("hover",null)}paint(){let{plot:t,member:s,n:i,width:n,
height:o,dark:a}=this;if(!n)return;let r=jt(s),l=r.of(i),d=n>=620;this.ink=a?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"\
#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"};let c=[this.pointed,Number(this.chosen||NaN)].find(g=>l.
some(y=>y.row===g))??l[0].row;this.now=l.find(g=>g.row===c);let h=document.activeElement,f=t.contains(h)?h.dataset.row:null,p=A("svg",{width:n,
height:o,viewBox:`0 0 ${n} ${o}`,"font-size":12,"font-family":"system-ui, sans-serif",fill:this.ink.ink});p.append(A("rect",{width:n,height:o,
fill:this.ink.paper}));let x=d?{left:8,top:34,width:.52*n-16,height:o-40}:{left:6,top:30,width:n-12,height:.54*o-30},b=d?.48*n-62:n-52,m=Math.
min(at,Math.max(...r.classes.map(g=>g.length))),z=b/r.classes.length<7*m,w=z?34+4.3*m:36,M=d?{left:.52*n+46,top:58,width:b,height:o-82-w,turned:z,
foot:w}:{left:40,top:.54*o+50,width:b,height:.46*o-60-w,turned:z,foot:w},O=(g,y,E,_=15)=>p.append(A("text",{x:y,y:E,"font-size":_},g)),L=r.kept(
i)===1?"it is least sure":"the draws disagree most";O(d&&r.kept(i)>1?`Images on which ${L}`:`Where ${L}`,x.left+(this.mark.hidden?4:18),22),
l.forEach((g,y)=>p.append(this.tile(r,g,y,l.length,x))),p.append(ae(this,r,M)),t.style.height=`${o}px`,t.replaceChildren(p),this.painting=!0,
f&&t.querySelector(`[data-row="${f}"]`)?.focus(),this.painting=!1,this.drawn={rows:l.map(g=>g.row),row:c},this.name()}describe(t){this.words=
t,this.name()}name(){if(!this.now||!this.words)return;let{classes:t,of:s}=jt(this.member),i=s(this.n).map(n=>t[n.label]).join(", ");this.plot.
setAttribute("aria-label",`${this.words} Labels of the images: ${i}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{
place:s,row:i,label:n,nats:o},a,r,{left:l,top:d,width:c,height:h}){let p=Math.ceil(r/4),x=c/4,b=Math.min(x-10,h/p-48),m=b+48,z=l+a%4*x+(x-b)/
2,w=d+Math.floor(a/4)*m,{member:M,tools:O,lit:L,n:g,ink:y}=this,E=t.kept(g),{classes:_}=t,$=new Map;for(let S=0;S<E;S++){let I=this.best(t,S,
s);$.set(I,($.get(I)??0)+1)}let v=[...$].sort((S,I)=>I[1]-S[1]),k=L!==null&&L<E?this.best(t,L,s):null,W=k===null?v.map(([S,I])=>`${_[S]??"no\
ne"}${E>1?`×${I}`:""}`).join(" "):`${x>110?`draw ${L+1}: `:""}${_[k]??"none"}, ${oe(t.prob(L,s,k))}`,C=Math.floor((x-8)/6.9),R=V(W,C),Y=o.toFixed(
2),ye=[`${_[n]} · ${Y} nats`,`${_[n]} · ${Y}`].find(S=>S.length<=C)??`${V(_[n],C-Y.length-3)} · ${Y}`,Ft=`test image ${i}, label ${_[n]},\
 disagreement ${o.toFixed(2)} nats; answers ${W}`,ke=A("image",{x:z,y:w,width:b,height:b,href:ne(i,M.meta.images,O.index.images),style:"imag\
e-rendering:pixelated"}),ze={x:z-1,y:w-1,width:b+2,height:b+2,fill:"none"},bt=this.now.row===i,$e=k!==null&&k!==n;return A("g",{"data-row":i,
role:"button",tabindex:0,"aria-label":Ft,"aria-pressed":bt,style:"cursor:pointer"},A("title",{},Ft),ke,A("rect",{...ze,stroke:bt?y.mark:y.line,
"stroke-width":bt?3:1}),A("text",{x:z+b/2,y:w+b+16,"text-anchor":"middle"},ye),A("text",{x:z+b/2,y:w+b+32,"text-anchor":"middle","font-size":11.5,
class:"fv-said","font-weight":k===null?400:600,fill:k===null?y.soft:$e?y.mark:y.ink},R))}best(t,s,i){let n=NaN,o=-1;return t.classes.forEach(
(a,r)=>{let l=t.prob(s,i,r);l>o&&([n,o]=[r,l])}),n}async image(t,s=1){let{width:i,height:n}=this,o=this.plot.firstChild.cloneNode(!0);o.setAttribute(
"xmlns","http://www.w3.org/2000/svg");let a=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(o))}`;if(t==="svg")
return a;let r=await it(a),l=u("canvas",{width:i*s,height:n*s});return l.getContext("2d").drawImage(r,0,0,l.width,l.height),l.toDataURL("ima\
ge/png")}};var Ct={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},lt=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:s,
members:i},n,o){this.model=t,this.most=s,this.methods=i.map(a=>a.method),this.changed=n,this.acted=o,this.past=[],this.last="",this.when=0,this.
start=this.all}get all(){let{model:t}=this,s=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("ra\
dius"),n_draws:s,...Ct,...t.get("look")??{}}}change(t){let s=Object.keys(t).join(),i=Date.now();(s!==this.last||i-this.when>700)&&this.past.
push(this.all),this.past.length>100&&this.past.shift(),this.last=s,this.when=i,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:s,
n_draws:i,...n}){let o=Object.fromEntries(Object.keys(Ct).map(a=>[a,n[a]??Ct[a]]));for(let[a,r]of Object.entries({method:t,radius:s,n_draws:i,
look:o}))this.model.set(a,r);this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put(
{...this.past.pop(),step:this.all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:s,
n_draws:i,tab:n,compare:o,picked:a,chosen:r,step:l,phase:d}=this.all,c=new URLSearchParams({method:t,radius:s,draws:i});n&&c.set("tab",n),o&&
c.set("b",`${o.radius}:${o.method}`),a!==null&&c.set("draw",a+1),l!==this.start.step&&c.set("step",l+1),d!==null&&c.set("phase",d+1);for(let[
h,f]of Object.entries(r))c.set(`see.${h}`,f);return`#${c}`}read(t){let s=new URLSearchParams(t.replace(/^#/,"")),i={},n=(l,d)=>{let c=s.has(
l)?Number(s.get(l)):NaN;return c>=d&&Number.isFinite(c)?c:null};this.methods.includes(s.get("method"))&&(i.method=s.get("method")),n("radius",
0)!==null&&(i.radius=n("radius",0)),n("draws",1)!==null&&(i.n_draws=Math.round(n("draws",1))),s.has("tab")&&(i.tab=s.get("tab")),n("draw",1)!==
null&&(i.picked=Math.round(n("draw",1))-1),n("step",0)!==null&&(i.step=Math.round(n("step",1))-1),n("phase",1)!==null&&(i.phase=Math.round(n(
"phase",1))-1);let[,o,a]=s.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];a!==void 0&&Number.isFinite(Number(o))&&(i.compare={method:a,radius:Number(
o)});let r=[...s].filter(([l])=>l.startsWith("see.")).map(([l,d])=>[l.slice(4),d]);r.length&&(i.chosen=Object.fromEntries(r)),Object.keys(i).
length&&this.put({...this.start,...i})}};var ct=class{page;story;constructor(t,s){this.story=t,this.page=s,this.explored=null,this.rest=0,this.sections=t.map(i=>u("section",{},u("h2",
{},i.title),...Ut(i.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:s}=this,i=s+.45*(window.innerHeight-s),n=Math.
max(0,t.findLastIndex(o=>o.getBoundingClientRect().top<i));return n<t.length-1?n:-1}follow(){let{page:{state:t,resting:s},story:i}=this,n=this.
inSight(),o=t.all;if(s()||n===o.step)return;o.step<0&&(this.explored=o);let{method:a,radius:r,n_draws:l}=t.start;t.acted({step:n}),t.put(n<0&&
this.explored||{method:a,radius:r,n_draws:l,...i.at(n).set,step:n})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Qe=40,ts=450;async function St(e,t){for(let[s,i,n]of e){let{method:o,radius:a}=n.member.meta;zt(await n.image(t,t==="png"?2:1),["flatviz",
i.name,o,a||"",s==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function re({el:e,state:t,member:s,radii:i,shown:n}){let o=t.all,{method:a,
label:r}=s.meta,l=[];for(let O of i){for(t.put({...o,radius:O});e.dataset.state!==`${a}/${O}/${o.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:O,images:await Promise.all(n().map(async([,,L])=>it(await L.image("png"))))})}t.put(o);let d=Math.max(...l.map(({images:O})=>O.
reduce((L,g)=>L+g.width,0))),c=Math.max(...l.flatMap(({images:O})=>O.map(L=>L.height))),h=u("canvas",{width:d+d%2,height:c+Qe+c%2}),f=h.getContext(
"2d"),{color:p,backgroundColor:x,fontFamily:b}=getComputedStyle(e),m=[],z=["video/mp4","video/webm"].find(O=>MediaRecorder.isTypeSupported(O)),
w=new MediaRecorder(h.captureStream(),{mimeType:z,videoBitsPerSecond:4e6}),M=new Promise(O=>{w.addEventListener("stop",O)});w.addEventListener(
"dataavailable",({data:O})=>m.push(O)),w.start();for(let{radius:O,images:L}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(f,{fillStyle:x,
font:`600 18px ${b}`}),f.fillRect(0,0,h.width,h.height),L.reduce((g,y)=>(f.drawImage(y,g,0),g+y.width),0),f.fillStyle=p,f.fillText(`${r}, ra\
dius ${O}`,14,h.height-14),await new Promise(g=>{setTimeout(g,ts)});w.stop(),await M,zt(URL.createObjectURL(new Blob(m,{type:z})),`flatviz-${a}\
-radius.${z?.slice(6)}`)}function le(e,t,{n_draws:s,phase:i}){let n=e.filter(([,o])=>o.kind==="plotly").map(([,o,{member:{meta:a}}])=>{let l=o.
phases.length&&i!==null?`, phase=${JSON.stringify(t.phases[Math.min(i,t.phases.length-1)])}`:"";return`fv.widgets.plot_view(family, ${JSON.stringify(
o.name)}, method=${JSON.stringify(a.method)}, radius=${a.radius}, n_draws=${s}${l})`});return["import flatviz as fv","",...t.code??[],...n].
join(`
`)}var ht=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,s){
let{node:i}=this;i.hidden=!1,i.value=t,i.select(),navigator.clipboard?.writeText(t).then(()=>i.setAttribute("aria-label",`${s}, copied`),()=>{});
let n=o=>{o.target!==i&&(i.hidden=!0,document.removeEventListener("pointerdown",n))};document.addEventListener("pointerdown",n)}};function ce(e){e.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return e.addEventListener("keydown",t),()=>e.removeEventListener("keydown",t)}var he=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
`;function de(e){let{state:t,index:s,members:i,hash:n,ask:o}=e;e.a=new H("",a=>t.change(a)),e.b=new H("B",a=>t.change({compare:{method:e.b.method,
radius:e.b.wanted,...a}})),e.draws=u("input",{type:"range",class:"fv-draws",min:1,max:s.n_max,step:1,"aria-label":"ensemble size"}),e.drawsText=
u("output"),e.draws.addEventListener("input",()=>t.change({n_draws:Number(e.draws.value)})),e.compare=P("Compare","two states side by side, \
on the same scales",()=>{let a=e.current(),r=i.methods.find(l=>l==="vi"&&l!==a.a.method)??a.a.method;t.change({compare:a.b?null:{method:r,radius:i.
stops(r)[0]}})}),e.player=new J(a=>ss(e,a),"go through the fitted radii of this method"),e.undo=P("Undo","take the last change back",()=>t.undo()),
e.copied=new ht,e.more=qt("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>e.copied.take(le(e.shown(),s,t.all),"code")],...n?[["Copy link",
()=>e.copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>St(e.shown(),"svg")],["Save as PNG",()=>St(e.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:a}=e.current().a;re({el:e.el,state:t,member:a,radii:i.fitted(a.
meta.method),shown:()=>e.shown()})}]]:[]]),e.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),e.said=u("span",
{role:"status"}),e.button=P("Stop","stop or start fitting",()=>o?.(e.button.textContent==="Stop"?"stop":"run")),e.bands=P("Bands over seeds",
"fit every member again with two more seeds, behind the picture",()=>o?.("seeds")),e.bands.hidden=s.seeds!==1,e.work=u("div",{class:"fv-work"},
e.button,e.bar,e.said,e.bands),e.work.hidden=!i.live,e.note=u("div",{class:"fv-note",role:"alert",hidden:""})}function ss(e,t){let{a:{method:s,
member:i}}=e.current(),{radius:n}=i.meta,o=e.members.fitted(s),a=o.find(r=>r>n)??(t?o[0]:void 0);return a===void 0||o.length<2?!1:(t&&e.state.
past.push(e.state.all),e.state.put({...e.state.all,radius:a}),!0)}function fe(e){let{el:t,index:s,state:i}=e,n=[...new Set(s.figures.map(r=>r.
group))];e.controls=u("div",{class:"fv-controls",role:"group","aria-label":"controls"},e.a.node,u("label",{},u("span",{},"ensemble size"),e.
draws,e.drawsText),e.b.node);let o=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},e.player.button,e.compare,e.undo,e.more);
e.reading=u("p",{class:"fv-reading"}),e.readingB=u("p",{class:"fv-reading",hidden:""}),e.spoken=u("div",{"aria-live":"polite"},e.reading,e.readingB),
e.names=n.length>1?[...n,"All"]:n;let a=`fv-panel-${Math.random().toString(36).slice(2)}`;e.tabs=is(e,a),e.grid=u("div",{class:"fv-figures",
role:"tabpanel",id:a,"aria-label":"pictures",tabindex:0}),e.head=u("div",{class:"fv-bar"},e.controls,e.work,e.note,e.spoken,u("div",{class:"\
fv-strip"},e.tabs,o)),e.stage=u("div",{class:"fv-stage"},e.head,e.copied.node,e.grid),e.article=new ct(s.story??[],{el:t,stage:e.stage,state:i,
resting:()=>e.stopped||e.printing||!e.placed}),t.classList.add("flatviz"),ce(t),t.replaceChildren(u("style",{},he),u("div",{class:"fv-body"},
e.article.node,e.stage))}function is(e,t){let{names:s,state:i}=e,n=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"});return e.tabButtons=
s.map(o=>{let a=u("button",{type:"button",role:"tab","aria-controls":t},o);return a.addEventListener("click",()=>i.change({tab:o})),a}),n.append(
...e.tabButtons),n.addEventListener("keydown",o=>{let a={ArrowRight:1,ArrowLeft:-1}[o.key];if(!a)return;let r=(s.indexOf(e.layout.tabOf(i.all))+
a+s.length)%s.length;i.change({tab:s[r]}),e.tabButtons[r].focus()}),n.hidden=s.length<2,n}function dt(e,t){let{a:s,b:i,n_draws:n}=t,{members:o,
draws:a,drawsText:r,layout:l}=e,{offered:d}=o,{narrow:c}=l;e.a.show(s.method,t.radius,d,c),e.a.letter.textContent=i?"A":"",e.b.node.hidden=!i,
i&&e.b.show(i.method,t.compare.radius,d,c),a.value=n,a.disabled=[s,i].every(b=>!b||b.member.meta.n_draws===1),r.textContent=a.disabled?"one \
point":et(n,"draw"),a.setAttribute("aria-valuetext",r.textContent),e.compare.setAttribute("aria-pressed",!!i),e.compare.textContent=i?"One s\
tate":"Compare",e.undo.disabled=!e.state.past.length,e.player.button.disabled=o.of(s.method).length<2;let h=e.hovered??t.picked,f=c&&l.reads(
t),p=(b,m)=>[(i?`${m}: `:"")+(f?o.numbers(b,n):o.sentence(b,n)),u("span",{class:"fv-draw"},h===null?"":o.aboutDraw(b,h))];e.reading.replaceChildren(
...p(s,"A")),e.readingB.hidden=!i,i&&e.readingB.replaceChildren(...p(i,"B"));let x=l.tabOf(t);e.el.classList.toggle("fv-drawn",e.frames.some(
b=>l.inTab(b,x)&&Object.keys(b.entry(t.chosen).link).length>0)),e.tabButtons.forEach((b,m)=>{b.setAttribute("aria-selected",e.names[m]===x),
b.tabIndex=e.names[m]===x?0:-1})}function ft(e,{phases:t},{phase:s}){return t.length&&Math.min(s??t.length,t.length-1)}function pt(e){let{layout:t,el:s}=e,i=e.current();t.arrange(
i),dt(e,i),!e.placed&&!e.stopped&&(e.placed=!0,e.article.goTo());let n=Q()&&!e.printing;s.dataset.theme=n?"dark":"light",e.pending=e.frames.
filter(a=>!a.node.hidden).flatMap(a=>ns(e,a,i));for(let a of e.pending)a.height=t.height(i,a.frame),a.most=e.printing?1/0:t.reads(i)||i.b&&s.
clientWidth<640?a.height:t.screen-t.tall(e.head,i)-8,a.picture.state&&(a.width=a.picture.plot.clientWidth);let o=({frame:a})=>{let{top:r,bottom:l}=a.
node.getBoundingClientRect();return l<0||r>window.innerHeight};t.tabOf(i)==="All"&&e.pending.sort((a,r)=>Number(o(a))-Number(o(r))),pe(e,i,n)}
function ns(e,t,s){let i=t.entry(s.chosen),n=i.kind==="plotly"&&!i.binds.length,o=s.b&&!n?{A:s.a,B:s.b}:{A:s.a};if(t.shown!==`${i.name}/${Object.
keys(o)}`){t.shown=`${i.name}/${Object.keys(o)}`,t.node.dataset.name=i.name;for(let[l,d]of Object.entries(i.option))t.menus[l].value=d;let r=Object.
keys(o).map(l=>t.made[i.name+l]??=new(i.kind==="images"?rt:U)(i,l,e.tools));t.pair.replaceChildren(...r.map(l=>l.node))}let a=s.a.member.meta.
captions?.[i.name]??i.caption;return t.caption.textContent!==a&&(t.caption.textContent=a),t.phases?.show(i.phases,ft(e,i,s)),Object.entries(
o).flatMap(([r,{member:l}])=>{let d=t.made[i.name+r],c=!!l.meta.waiting?.includes(i.name);return d.node.classList.toggle("fv-waits",c),c?[]:
(d.mark.hidden=!s.b||n,[{frame:t,picture:d,member:l,entry:i,height:0,most:0,width:void 0}])})}function pe(e,t,s){let{members:i,pending:n,el:o}=e,
a=performance.now()+(e.printing?1e9:30);for(;n.length;){let{frame:r,picture:l,member:d,entry:c,height:h,most:f,width:p}=n.shift(),x=ft(e,c,t);
l.draw(d,t.n_draws,{height:h,most:f,width:p,dark:s,phone:e.layout.narrow,ranges:i.ranges(c),transition:e.player.glide,at:x})&&l.light(e.hovered??
t.picked);let[b]=(c.layout.title?.text??"").split("<br>");r.about.firstChild.textContent=l.narrow&&b?`${b}: what is this?`:"What is this?",l.
print&&!r.caption.textContent.endsWith(l.print)&&r.caption.append(l.print);let m=c.phases[x]?.[0];if(l.describe(`${d.meta.alts[c.name]}${m?`\
; ${m}`:""}. ${i.sentence({member:d,wanted:d.meta.radius,method:d.meta.method},t.n_draws)}`),performance.now()>a&&n.length){requestAnimationFrame(
()=>{e.pending===n&&!e.stopped&&pe(e,t,s)});return}}if(o.dataset.state=`${t.a.method}/${t.a.member.meta.radius}/${t.n_draws}`,o.dataset.shown=
t.a.member.meta.note?"preview":"fitted",o.dataset.look=`${e.layout.tabOf(t)}${t.b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,e.hash&&
!e.stale){let r=location.hash;e.later("address",()=>{location.hash===r&&history.replaceState(null,"",e.state.hash)},100)}e.stale&&performance.
mark("flatviz-drawn"),e.stale=!1,i.live&&e.later("shot",()=>e.photograph(),1500)}function me(e){let{el:t,state:s,model:i,article:n}=e,o=[],a=0,r=(c,h,f,p)=>{c.addEventListener(h,f,p),o.push(()=>c.removeEventListener(h,f))},
l=["radius","n_draws","method","look"].map(c=>`change:${c}`);for(let c of l)i.on(c,e.schedule);let d=new ResizeObserver(()=>{e.stopped||!t.clientWidth||
(t.clientWidth!==a&&(a=t.clientWidth,e.placed=!1,e.layout.arrange(e.current()),e.schedule()),e.pictures.forEach(c=>c.resize()),e.mark())});[
t,e.grid].forEach(c=>d.observe(c)),o.push(tt(e.schedule),()=>d.disconnect(),()=>l.forEach(c=>i.off?.(c,e.schedule))),r(window,"beforeprint",
()=>ue(e,!0)),r(window,"afterprint",()=>ue(e,!1)),r(window,"resize",e.schedule),n.story.length&&r(window,"scroll",n.scrolled,{passive:!0}),e.
hash&&(r(window,"hashchange",()=>{location.hash!==s.hash&&(s.read(location.hash),e.placed=!1)}),location.hash.length>1&&s.read(location.hash)),
e.forget=()=>o.forEach(c=>c())}function ue(e,t){e.printing=t,e.el.style.width=t?"660px":"",pt(e),t&&e.pictures.forEach(s=>s.resize())}var ve=e=>Object.values(e.option).join(", "),ut=class{entries;choose;menus;slot;constructor(t,s){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),this.slot=t.slot,this.group=t.group,this.span=t.span,this.least=t.least,
this.choose=s,this.entries=[],this.menus={},this.made={},this.shown=""}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){
for(let s of Object.keys(this.entries[0].option)){let i=[...new Set(this.entries.map(o=>o.option[s]))],n=u("select",{"aria-label":`${s} of t\
his picture`},...i.map(o=>u("option",{value:o},o)));n.addEventListener("change",()=>{let o=this.entry(t()).option,a=l=>Object.keys(o).filter(
d=>l.option[d]===o[d]).length,r=this.entries.filter(l=>l.option[s]===n.value);this.choose(ve(r.reduce((l,d)=>a(d)>a(l)?d:l)))}),this.menus[s]=
n,i.length>1&&this.choice.append(n)}}entry(t){return this.entries.find(s=>ve(s)===t[this.slot])??this.entries[0]}phase(t,s){this.phases=new nt(
t,s),this.pair.after(this.phases.node)}},mt=class{page;frames;tallest;constructor(t,s){this.frames=t,this.page=s,this.tallest=new Map}tabOf({
tab:t}){let{names:s,printing:i}=this.page;return i()?"All":s.includes(t)?t:s[0]}inTab(t,s){return s==="All"||t.group===s}reads(t){return this.
page.article.reads(t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<640&&!this.page.printing()}get screen(){return this.
page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,s){let i=r=>r.reduce((l,d)=>l+d,0),n=i(s.
map(r=>r.span)),o=s.map(r=>Math.ceil(12*r.least/this.page.grid.clientWidth)),a=s.map(r=>Math.max(3,Math.round(12*r.span/n)));return a.some((r,l)=>r<
o[l])&&i(o)<=12&&o.every(Boolean)&&(a=o),a[a.length-1]+=12-i(a),a[s.indexOf(t)]}arrange(t){let{page:s,frames:i}=this,{el:n,grid:o,tabs:a,compare:r,
undo:l,names:d,article:{story:c}}=s,h=s.printing(),f=n.clientWidth,p=this.tabOf(t),x=this.reads(t),b=f>=900,m=i.filter(v=>this.inTab(v,p)),z={
narrow:f<640||h,beside:b&&!h,above:!b&&!h,two:t.b,reads:x,story:c.length&&!h};for(let[v,k]of Object.entries(z))n.classList.toggle(`fv-${v}`,
!!k);for(let v of[a,r,l])v.hidden=x||v===a&&d.length<2;let w=v=>o.clientWidth*this.spread(v,m)/12<v.least;x&&(!b||t.b||m.some(w))&&(m=[m.find(
v=>v.entries.some(k=>k.name===c[t.step].set?.see))??m[0]]);let M=m.reduce((v,k)=>v+k.span,0),O=p!=="All"&&(M<=12||m.length<3)&&!t.b,L=O&&m.some(
w),g=f<1e3||t.b,y=[[]],E=(v,k)=>g?12/k.length:this.spread(v,k);for(let v of m){let k=[...y.at(-1)??[],v],W=k.some(C=>o.clientWidth*E(C,k)/12<
C.least);k.length>1&&(W||k.reduce((C,R)=>C+(g?6:R.span),0)>12)&&y.push([]),y.at(-1)?.push(v)}let _=v=>E(v,y.find(k=>k.includes(v))??[v]),$=f<
640&&!h;for(let v of i)v.tap!==$&&(Object.assign(v,{tap:$}).about.open=!$),v.node.hidden=!m.includes(v),x&&!b&&t.b?v.pair.tabIndex=0:v.pair.
removeAttribute("tabindex"),v.node.style.gridColumn=(t.b||L)&&p!=="All"?"span 12":O?`span ${this.spread(v,m)}`:`span ${_(v)}`}tall(t,s){let{
el:i,note:n}=this.page,o=[i.clientWidth,!!s.b,this.reads(s),n.textContent].join(),a=this.tallest.get(t),r=t.hidden?0:Math.max(t.offsetHeight,
a?.place===o?a.px:0);return this.tallest.set(t,{place:o,px:r}),r}height(t,s){let{el:i,head:n,stage:o}=this.page,a=this.page.printing(),r=M=>this.
tall(M,t),{height:l,layout:d}=s.entry(t.chosen),{screen:c}=this,h=this.reads(t);if(h&&i.clientWidth<900)return o.clientHeight-r(n)-(s.phases?
r(s.phases.node):0)-r(s.about.firstChild)-r(s.choice)-24;let f=Object.keys(d).filter(M=>/^[xy]axis/.test(M)).length>2;if(t.b&&this.narrow)return f?
440:Math.max(230,Math.round((c-r(n)-40)/2));let p=s.phases&&!h?B(d)+92+290:300,x=i.clientWidth<690?p:Math.max(300,Math.min(p,c-r(n)-44));if(a)
return l;if(this.tabOf(t)==="All")return Math.max(x,Math.min(l,c-r(n)-40));let b=i.closest(".jp-Notebook")?0:i.getBoundingClientRect().top+window.
scrollY,m=M=>(M.phases?r(M.phases.node):0)+(h?r(M.choice)+r(M.caption):t.b?36:80),z=24+(h?Math.max(...this.frames.filter(M=>!M.node.hidden).
map(m)):m(s)),w=c-r(n)-Math.max(z,i.clientWidth>=1e3&&b<.3*c?b+48:0);return Math.round(Math.max(x,Math.min(t.b?440:560,w)))}};var be=e=>t=>`${e} ${t.toFixed(3)}`,xe={accuracy:e=>`accuracy ${(100*e).toFixed(1)} %`,nll:e=>`NLL ${e.toFixed(3)} nats`,ece:be("ECE"),rmse:e=>`\
RMSE ${j(e)}`},os={...xe,accuracy:e=>`${(100*e).toFixed(1)} % right`,nll:be("NLL")},vt=class{live;list;index;fields;constructor(t,s){this.index=
t.index,this.fields=t.index.fields,this.live=s,this.list=gt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.
list.filter(s=>s.meta.method===t)}fitted(t){return this.of(t).filter(s=>!s.meta.note).map(s=>s.meta.radius).sort((s,i)=>s-i)}stops(t){let s=this.
live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(i=>i.meta.radius),...s])].sort((i,n)=>i-n)}standing(t,s){let i=this.methods.
includes(t)?t:this.methods[0],n=this.of(i);return{method:i,wanted:s,member:n[X(n.map(o=>o.meta.radius),s)]}}get offered(){return this.methods.
map(t=>{let{label:s,unit:i}=this.of(t)[0].meta;return[t,s,this.stops(t),i,this.index.defaults[t]]})}add(t){for(let s of gt(t)){let i=this.list.
findIndex(n=>n.meta.method===s.meta.method&&n.meta.radius===s.meta.radius);i>=0&&(s.version=(this.list[i].version??0)+1),i<0?this.list.push(
s):this.list[i]=s}}ranges(t){let s={};for(let i of t.shared){let n=this.list.flatMap(o=>o.meta.ranges[t.name]?.[i]??[]);n.length&&(s[i]=[Math.
min(...n),Math.max(...n)])}return s}scores(t,s=xe){return Object.entries(s).filter(([i])=>i in this.fields).map(([i,n])=>n(t(i)))}sentence({
method:t,member:s,wanted:i},n){let o=c=>D(this.fields,s,c),a=c=>o(c)[n-1],r=s.meta.radius,l=Math.abs(r-i)>1e-6*Math.max(1,i)&&this.of(t).length>
1?`radius ${j(i)} is not fitted; shown: `:"",d=r>0?`, radius ${j(r)}${s.meta.reach??""}`:s.meta.equals?`, radius 0, which is ${s.meta.equals}`:
"";return`${l}${s.meta.label}${d}${s.meta.note??""}, ${et(Math.min(n,s.meta.n_draws),"draw")}: `+(Number.isFinite(a("nll"))?`${this.scores(a).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(o("lambda1")[0])?`largest eigenvalue λ₁ ${j(o("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},s){let i=o=>D(this.fields,t,o)[s-1],[n]=D(this.fields,t,"lambda1");return Number.isFinite(
i("nll"))?`${this.scores(i,os).join(", ")}, λ₁ ${j(n)}`:"diverged"}aboutDraw({member:t},s){let i=D(this.fields,t,"draw loss")[s],n=D(this.
fields,t,"draw distance")[s];return Number.isFinite(i)?` Draw ${s+1}: training loss ${j(i)}, ${j(n)} off the plane.`:""}};function Nt(e){return new Tt(e).handle}var Tt=class{a;b;draws;drawsText;compare;player;undo;copied;more;bar;said;button;bands;work;note;controls;reading;readingB;spoken;names;tabs;tabButtons;grid;head;stage;article;pending=[];hovered=null;timers={};waiting=!1;stopped=!1;busy=!1;printing=!1;placed=!1;stale=!0;frames=[];forget=()=>{};constructor({
Plotly:t,model:s,el:i,bundle:n,ask:o=null,hash:a=!1,former:r=null}){let{index:l}=n;Z(l.dark),this.Plotly=t,this.model=s,this.el=i,this.index=
l,this.ask=o,this.hash=a,this.schedule=this.schedule.bind(this),this.members=new vt(n,!!(l.live&&o)),this.state=new lt(s,l,this.schedule,w=>{
["method","radius","compare","step"].some(M=>M in w)&&this.player.halt(),["phase","chosen","tab","compare","step"].some(M=>M in w)&&this.frames.
forEach(M=>M.phases?.player.halt())}),r&&Object.assign(this.state,r),de(this),fe(this);for(let w of l.figures)this.place(w);for(let w of this.
frames)w.offer(()=>this.state.all.chosen);let{grid:d,head:c,stage:h,note:f,tabs:p,compare:x,undo:b,names:m,article:z}=this;this.layout=new mt(
this.frames,{el:i,grid:d,head:c,stage:h,note:f,tabs:p,compare:x,undo:b,names:m,article:z,printing:()=>this.printing}),me(this),this.schedule()}current(){
let t=this.state.all,s=t.compare;return{...t,a:this.members.standing(t.method,t.radius),b:s&&this.members.standing(s.method,s.radius)}}get tools(){
let{Plotly:t,index:s,members:{list:i},state:n}=this;return{Plotly:t,index:s,members:i,point:(o,a)=>this.point(o,a),choose:(o,a)=>this.choose(
o,a),chosen:()=>n.all.chosen,redraw:this.schedule,replace:o=>o.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,s){
this.state.change({chosen:{...this.state.all.chosen,[t]:s}})}place(t){let s=t.slot?this.frames.find(i=>i.slot===t.slot&&i.group===t.group):null;
s||(s=new ut(t,i=>this.choose(t.slot,i)),this.grid.append(s.node),this.frames.push(s)),s.add(t),t.phases.length&&!s.phases&&s.phase(i=>this.
state.change({phase:i}),i=>this.playPhase(s,i))}playPhase(t,s){let{state:i}=this,n=t.entry(i.all.chosen),o=ft(this,n,i.all),a=n.phases.length-
1,r=s&&o===a?0:o+1;return r>a?!1:(s&&i.past.push(i.all),i.put({...i.all,phase:r}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(
t.made))}shown(){return this.frames.filter(t=>!t.node.hidden).flatMap(t=>{let s=t.entry(this.state.all.chosen);return["A","B"].map(i=>[i,s,t.
made[s.name+i]]).filter(([,,i])=>i?.node.isConnected&&i.state)})}later(t,s,i){clearTimeout(this.timers[t]),this.timers[t]=setTimeout(s,i)}schedule(){
this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&(this.el.isConnected?pt(this):setTimeout(
this.schedule,100))}))}point(t,s){let{state:i}=this;if(t==="click"){i.change({picked:i.all.picked===s?null:s});return}this.hovered!==s&&(this.
hovered=s,dt(this,this.current()),this.mark())}mark(){this.pictures.forEach(t=>t.light(t.plot.clientWidth?this.lit:null))}async photograph(){
if(!this.el.isConnected||this.busy&&this.el.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),1500);return}let t=await Promise.
all(this.shown().slice(0,2).map(([,,s])=>s.image("png")));this.stopped||this.ask("picture",{images:t,text:this.spoken.innerText})}get handle(){
let t=i=>(...n)=>this[i](...n),{state:s}=this;return{get history(){return{past:s.past,start:s.start}},add:t("add"),status:t("status"),lost:t(
"lost"),stop:t("stop")}}add(t){this.members.add(t);for(let s of t.index.figures??[]){let i=Object.assign(this.index.figures.find(o=>o.name===
s.name),s),{made:n}=this.frames.find(o=>o.entries.includes(i));(s.data||s.layout)&&["A","B"].forEach(o=>n[i.name+o]?.renew())}this.schedule()}status({
share:t,text:s,busy:i,error:n}){this.busy=i,this.bar.value=t,this.said.textContent=s,this.button.textContent=i?"Stop":"Run",this.bands.disabled=
i,this.note.hidden=!n,this.note.textContent=n??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.hidden=!1,this.note.textContent=
t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),this.frames.forEach(t=>t.phases?.player.halt()),Object.values(this.timers).forEach(
clearTimeout),this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var Bt=e=>document.getElementById(e),we=e=>JSON.parse(Bt(e).textContent??""),as=()=>new Promise(e=>{requestAnimationFrame(()=>setTimeout(e))});
async function ge(e){let t=new Blob([K(we(e))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function rs(){performance.mark("flatviz-start");let e=we("flatviz-start"),t=Bt("explorer"),s={get:r=>e[r],set:(r,l)=>{
e[r]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await as();let[i,n]=await Promise.all([ge("flatviz-index"),ge("flatviz-records")]),o=document.createElement("script");o.textContent=
Bt("plotly").textContent,document.head.append(o);let a={index:JSON.parse(new TextDecoder().decode(i)),buffer:Dt(n)};Nt({Plotly:globalThis.Plotly,
model:s,el:t,bundle:a,hash:!0})}return _e(ls);})();
