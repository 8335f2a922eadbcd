var flatvizExplorer=(()=>{var xt=Object.defineProperty;var Me=Object.getOwnPropertyDescriptor;var Oe=Object.getOwnPropertyNames;var Le=Object.prototype.hasOwnProperty;var Ee=(e,t)=>{for(var s in t)xt(e,s,{get:t[s],enumerable:!0})},Ae=(e,t,s,i)=>{if(t&&typeof t=="object"||typeof t=="function")for(let n of Oe(
t))!Le.call(e,n)&&n!==s&&xt(e,n,{get:()=>t[n],enumerable:!(i=Me(t,n))||i.enumerable});return e};var _e=e=>Ae(xt({},"__esModule",{value:!0}),e);var ls={};Ee(ls,{isDark:()=>Q,learnColors:()=>Z,onThemeChange:()=>tt,recolored:()=>T,show:()=>Nt,start:()=>rs});function gt(e){let{index:t}=e,s=e.buffer instanceof ArrayBuffer?e.buffer:e.buffer.buffer.slice(e.buffer.byteOffset,e.buffer.byteOffset+e.buffer.
byteLength),i=t.record;return t.members.map((n,a)=>({meta:n,data:new Float32Array(s,a*i*4,i),read:new Map}))}var K=e=>Uint8Array.from(atob(e),
t=>t.charCodeAt(0));function Dt(e){let t=e.length/4,s=new Uint8Array(e.length);for(let i=0;i<4;i++)for(let n=0;n<t;n++)s[4*n+i]=e[i*t+n];return s}
function Pt(e,[t,...s]){if(!s.length)return Array.from(e);let i=e.length/t;return Array.from({length:t},(n,a)=>Pt(e.subarray(a*i,(a+1)*i),s))}
function D(e,t,s){if(!t.read.has(s)){let{offset:i,shape:n}=e[s],a=t.data.subarray(i,i+n.reduce((o,r)=>o*r,1));t.read.set(s,Pt(a,n))}return t.
read.get(s)}function wt({field:e,rows:t},s,i,n,a){let o=i.meta.words[e];if(t==="phase")return(o??D(s,i,e))[a];if(o!==void 0)return o;let r=D(
s,i,e);return t==="draws"?r.slice(0,n):t==="segments"?r.slice(0,3*n):t==="size"?r[Math.min(n,r.length)-1]:r}function G(e,[t,...s],i){let n=Array.
isArray(e)?[...e]:{...e};return n[t]=s.length?G(n[t]??{},s,i):i,n}function yt(e,t,s){return Array.isArray(e)&&Array.isArray(t)?t.map((i,n)=>yt(
e[n],i,s)):typeof e=="number"&&typeof t=="number"?e+s*(t-e):s<.5?e:t}function X(e,t){let s=n=>n>0?Math.log10(n):-1/0,i=n=>n===t?0:Math.abs(s(
n)-s(t));return e.reduce((n,a,o)=>i(a)<i(e[n])?o:n,0)}var kt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function Z(e){for(let[t,s]of Object.
entries(e))kt[t]??=s}function Q(){let{body:e,documentElement:t}=document;return e.dataset.jpThemeLight?e.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function je(e,...t){let s=t.slice(0,3).map(r=>Number(r).toString(
16).padStart(2,"0")),i=kt[`#${s.join("")}`];if(!i||e.startsWith("rgba(255"))return e;let[n,a,o]=[1,3,5].map(r=>parseInt(i.slice(r,r+2),16));
return`rgba(${n}, ${a}, ${o}, ${t[3]})`}function T(e){return typeof e=="string"?e.length<4?e:e.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>kt[t.toLowerCase()]??
t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,je):Array.isArray(e)?typeof e[0]=="number"?e:e.map(T):e===null||typeof e!="object"||ArrayBuffer.
isView(e)?e:Object.fromEntries(Object.entries(e).map(([t,s])=>[t,t==="colorscale"||t==="bdata"?s:T(s)]))}function tt(e){let t=matchMedia("(p\
refers-color-scheme: dark)"),s=new MutationObserver(e);return s.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",e),()=>{s.disconnect(),t.removeEventListener(
"change",e)}}function u(e,t={},...s){let i=document.createElement(e);for(let[n,a]of Object.entries(t))typeof a=="function"?i.addEventListener(n.slice(2),
a):a!=null&&a!==!1&&i.setAttribute(n,a===!0?"":String(a));return i.append(...s.filter(n=>n!=null)),i}function A(e,t={},...s){let i=document.
createElementNS("http://www.w3.org/2000/svg",e);for(let[n,a]of Object.entries(t))i.setAttribute(n,String(a));return i.append(...s),i}var P=(e,t,s,i={})=>u(
"button",{type:"button",title:t,onclick:s,...i},e);var j=e=>Number(e.toPrecision(3)).toString(),et=(e,t)=>`${e} ${t}${e===1?"":"s"}`,st=globalThis.matchMedia?.("(prefers-reduced-motion: reduc\
e)")??{matches:!1};async function it(e){let t=new Image;return t.src=e,await t.decode(),t}function zt(e,t){let s=u("a",{href:e,download:t});
document.body.append(s),s.click(),s.remove()}var Ce="http://www.w3.org/1998/Math/MathML",Se={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Te=["max","min","log","KL","E"],Ne=[
"∑","max","min"],Be=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,N=(e,...t)=>({tag:e,inside:t});function Fe(e){let s=(e.replace(
/\\text\{[^}]*\}/g,l=>l.replaceAll(" "," ")).match(Be)??[]).filter(l=>!/^ +$/.test(l)),i=0,n=()=>{let l=[];for(;i<s.length&&s[i]!=="}";)l.push(
o());return i+=1,l.length===1?l[0]:N("mrow",...l)},a=()=>{let l=s[i++]??"";if(l==="{")return n();let c=l.startsWith("\\")?l.slice(1):"";if(c===
"frac")return N("mfrac",a(),a());if(c==="sqrt")return N("msqrt",a());if(c==="text"){let d=++i;for(;i<s.length&&s[i]!=="}";)i+=1;return{tag:"\
mtext",text:s.slice(d,i++).join("")}}if(Te.includes(c))return{tag:"mo",text:c};let h=c?Se[c]??c:l;return/^[0-9.]+$/.test(h)?{tag:"mn",text:h}:
h.endsWith("′")?N("mrow",{tag:"mi",text:h[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(h)?{tag:"mi",text:h}:{tag:h===" "?"mtext":"mo",text:h}},
o=()=>{let l=a(),c={};for(;s[i]==="_"||s[i]==="^";)c[s[i++]]=a();let{_:h,"^":d}=c,f=Ne.includes(l.text??"");return h&&d?N(f?"munderover":"ms\
ubsup",l,h,d):h?N(f?"munder":"msub",l,h):d?N("msup",l,d):l},r=[];for(;i<s.length;)r.push(o());return N("math",N("mrow",...r))}function Wt({tag:e,
text:t,inside:s=[]}){let i=document.createElementNS(Ce,e);return t&&(i.textContent=t),t==="′"&&i.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&i.setAttribute("stretchy","false"),i.append(...s.map(Wt)),i}function Rt(e){let t=Wt(Fe(e));return t.setAttribute("display","blo\
ck"),t}var H=class{method;wanted;stops;stopsOf;first;constructor(t,s){this.change=s,this.remembered={};let i=t?` ${t}`:"";this.letter=u("span",{class:"\
fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`method${i}`}),this.radius=u("input",{type:"range",
class:"fv-radius",min:0,step:1,"aria-label":`radius${i}`}),this.text=u("output"),this.node=u("div",{class:"fv-side"},this.letter,u("label",{},
u("span",{},`method${i}`),this.select),u("label",{},u("span",{},`radius${i}`),this.radius,this.text)),this.select.addEventListener("change",
()=>{this.remembered[this.method]=this.wanted;let n=this.select.value,a=this.stopsOf(n);s({method:n,radius:this.remembered[n]??this.first(n)??
a[Math.ceil((a.length-1)/2)]})}),this.radius.addEventListener("input",()=>s({radius:this.stops[Number(this.radius.value)]}))}show(t,s,i,n=!1){
let a=i.map(([l,,c])=>`${l}:${c.length}`).join()+t;a!==this.key&&(this.key=a,this.stopsOf=l=>i.find(c=>c[0]===l)[2],this.first=l=>i.find(c=>c[0]===
l)[4],this.select.replaceChildren(...i.map(([l,c])=>{let h=u("option",{value:l},c);return h.selected=l===t,h}))),this.method=t,this.wanted=s,
this.stops=this.stopsOf(t),this.radius.max=Math.max(1,this.stops.length-1),this.radius.disabled=this.stops.length<2,this.radius.value=X(this.
stops,s);let o=i.find(l=>l[0]===t)[3],r=this.stops.length<2?"none":`${j(s)} ${o}${s===0?" (= VI)":""}`;this.text.textContent=n?this.stops.length<
2?"no radius":`radius ${j(s)}`:r,this.radius.setAttribute("aria-valuetext",r)}},De=1200,Pe={duration:800,easing:"cubic-in-out"},J=class{every;next;text;constructor(t,s,{
text:i="Play",every:n=De}={}){this.next=t,this.text=i,this.every=n,this.timer=0,this.button=P(i,s,()=>this.timer?this.halt():this.go(!0))}get glide(){
return this.timer&&!st.matches?Pe:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.every),this.next(t)?this.button.textContent="Pause":
this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},It=900,We=1900,nt=class{constructor(t,s){this.player=
new J(s,"ascend, gradient there, step back, descend",{text:"Play the step",every:We}),this.slider=u("input",{type:"range",class:"fv-phase",min:0,
step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener("input",()=>t(Number(this.slider.value))),this.
node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,this.slider,this.text)}show(t,s){if(this.
node.hidden=!t.length,!t.length)return;let[i,n]=t[s];this.slider.max=t.length-1,this.slider.value=s,this.slider.setAttribute("aria-valuetext",
`${s+1} of ${t.length}: ${i}`),this.text.replaceChildren(u("b",{},i),`: ${n}`)}};function qt(e,t){let s=u("div",{}),i=u("details",{class:"fv\
-menu"},u("summary",{},e),s);for(let[n,a]of t){let o=()=>{i.open=!1,a()};s.append(u("button",{type:"button",onclick:o},n))}return i.addEventListener(
"keydown",n=>{n.key==="Escape"&&(i.open=!1,i.firstChild.focus())}),i.addEventListener("focusout",n=>{n.relatedTarget&&!i.contains(n.relatedTarget)&&
(i.open=!1)}),i}var Re={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"\
negative log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the\
 share of right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler diverg\
ence: how far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function Ut(e){let t=new Set,
s=i=>i.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((n,a)=>a%2===0||t.has(n)?n:(t.add(n),u("abbr",{title:Re[n],tabindex:0},n)));return e.split(
`
`).filter(Boolean).map(i=>i.startsWith("= ")?u("p",{class:"fv-equation"},Rt(i.slice(2))):u("p",{},...i.split("**").flatMap((n,a)=>a%2?u("b",
{},...s(n)):s(n))))}var B=e=>e.margin?.t??e.template.layout.margin.t;function Kt({layout:e,data:t},s,i,n){if(!e.yaxis?.scaleanchor||e.xaxis2)return null;let[a,o]=[
"xaxis","yaxis"].map(d=>s[d]??e[d].range),r=t.some(d=>d.colorbar)?130:20,l=a&&o?(a[1]-a[0])/(o[1]-o[0]):1,c=Ie({data:t,layout:e}).reduce((d,f)=>d+
44+7.2*f.length,0),h=Math.min(i-60-r-(n-B(e)-92)*l,i-60-r-c)/2;return h<8?null:{margin:{...e.margin,t:B(e),l:60+h,r:r+h}}}function Ht(e,t){let s=[
"",2,3,4].filter(r=>e[`xaxis${r}`]),i=s.length>1&&s.every(r=>!e[`yaxis${r}`].domain);if(t>=460||!i)return e;let n=.1,a=(1-n*(s.length-1))/s.
length,o={};return s.forEach((r,l)=>{let c=1-l*(a+n),h=l===s.length-1;o[`xaxis${r}`]={...e[`xaxis${r}`],domain:[0,1],showticklabels:h,title:h?
e[`xaxis${r}`].title:""},o[`yaxis${r}`]={...e[`yaxis${r}`],domain:[Math.max(0,c-a),c],showticklabels:!0,nticks:4,title:l===1?e.yaxis.title:""}}),
{...e,...o,margin:{...e.margin,t:58}}}function Ie({data:e,layout:t}){return t.showlegend===!1?[]:e.filter(s=>s.mode&&s.name&&s.showlegend!==
!1&&s.visible!==!1).map(s=>s.name)}function Jt({data:e,layout:t},s,i){let n=i-(t.margin?.t??76)-(t.margin?.b??92),a=p=>({...p,title:{...p.title,
font:{...p.title.font,size:Math.max(10,Math.min(15,n/(.54*p.title.text.length)))}}}),o=e.map(p=>p.colorbar?.title?.text?{...p,colorbar:a(p.colorbar)}:
p),{scene:r}=t,l=460/s;for(let p of Object.keys(t).filter(x=>/^[xy]axis\d*$/.test(x))){let x=t[p],[b,m]=x.domain??[0,1],z=p[0]==="y"?n:s-60,
[w]=(x.title?.text??"").split("<br>"),M=z*(m-b)/(.54*w.replace(/<[^>]*>/g,"").length);M<15&&(t={...t,[p]:{...x,title:{...x.title,font:{...x.
title.font,size:Math.max(9,M)}}}})}if(!r?.camera||l<=1)return{data:o,layout:t};let c=Object.fromEntries(Object.entries(r.camera.eye).map(([p,
x])=>[p,x*l**.7])),h=({title:p})=>p.text.replace(/ of [^)]*\)/,")"),d=(p,x)=>({...p,title:{...p.title,text:x,font:{size:10}},tickfont:{size:9}}),
f={xaxis:d(r.xaxis,h(r.xaxis)),yaxis:d(r.yaxis,h(r.yaxis)),zaxis:d(r.zaxis,"")};return{data:o,layout:{...t,scene:{...r,...f,camera:{...r.camera,
eye:c}}}}}function Yt({data:e,layout:t,phases:s},i,n){let a=Math.max(0,B(t)-76)+(t.annotations?.some(r=>r.yref==="paper"&&r.y>=1)?16:0),o=(n?12:36)+Math.
min(34,a)+17*Gt({data:Mt(e),layout:t},i).length;return{margin:{...t.margin,...s.length?{t:o,b:8,l:8,r:8}:{t:o,b:48,l:i<240?40:50,r:12}}}}function Gt({
data:e,layout:t},s){if(t.showlegend===!1)return[];let i=[],n=0;for(let{name:a,mode:o,marker:r,line:l,showlegend:c,visible:h}of e){if(!o||!a||
c===!1||h===!1)continue;let d=/markers/.test(o)&&typeof r?.color=="string"?r.color:l?.color??"#1f2933",f=26+6.6*a.length,p=/markers/.test(o)?
/cross/.test(r?.symbol)?"✚":"●":"–";f>n&&(i.push([]),n=s-24),n-=f,i.at(-1)?.push(`<span style="color:${d}">${p} ${a}</span>`)}return i.
map(a=>a.join("   "))}function Xt(e,t){let s=Gt(e,t),{annotations:i=[],margin:n}=e.layout;if(!s.length)return{};let a={x:0,y:1,xref:"paper",
yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-n.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...i,{...a,text:s.
join("<br>"),font:{size:11}}]}}var Vt=e=>e.type==="scatter"&&/lines/.test(e.mode)&&e.name?.length<11;function Mt(e){if(e.some(i=>i.type==="s\
catter"&&i.mode==="markers"&&i.visible!==!1))return e;let t=e.filter(i=>Vt(i)&&i.showlegend!==!1&&i.visible!==!1).length,s=0;return e.map(i=>{
if(!Vt(i)||i.showlegend===!1||i.visible===!1)return i;let n=i.y?.length??atob(i.y?.bdata??"").length/Number(i.y?.dtype?.[1]??8),a=n>2&&n<60?
Math.max(0,n-1-s++*Math.max(1,Math.floor(n/t))):n-1,o=Array.from({length:n},(r,l)=>l===a?i.name:"");return{...i,showlegend:!1,mode:`${i.mode}\
+text`,text:o,textposition:n<60?"top left":"top center",textfont:{size:12,color:i.line?.color},cliponaxis:!1}})}function Zt(e,{phases:t}){return e.
colorbar?t.length?{...e,showscale:!1}:{...e,colorbar:{...e.colorbar,thickness:9,xpad:4,tickfont:{size:10},title:{...e.colorbar.title,font:{size:10.5}}}}:
e}var Qt=({xaxis:e})=>{let[,...t]=(e?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};
function te(e,{phases:t},s){let[,...i]=(e.title?.text??"").split("<br>"),n={...e.title,text:s?i.join("<br>"):e.title?.text,font:{...e.title?.
font,size:12}},a=h=>Math.max(...h.split("<br>").map(d=>d.length)),o=e.annotations?.map(h=>({...h,font:{...h.font,size:a(h.text??"")>54?8.5:10}})),
r={...e.legend,font:{...e.legend?.font,size:11}},{xaxis:l}=e,c=l?.title?.text?.split("<br>")[0];if(t.length)for(let h of["xaxis","yaxis"])e=
{...e,[h]:{...e[h],title:{text:""},showticklabels:!1,ticks:"",automargin:!1}};return{...e,title:n,legend:r,...c&&!t.length?{xaxis:{...l,title:{
...l.title,text:c}}}:{},...o?{annotations:o}:{}}}var Ot=e=>`${e[0]}axis${e.slice(1)}`;var qe=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,se=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
ie={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},Lt=["contour","heatmap"];function at(e,t){return Array.
isArray(e)&&Array.isArray(t)?e.length===t.length&&e.every((s,i)=>at(s,t[i])):Object.is(e,t)}function ee(e,t,s){let i=t.split("."),n=i.pop();
i.reduce((a,o)=>a[o],e)[n]=s}function Et(e,t,s,i,n){let a=[],o={};for(let[h,d]of s){let[,f,p]=h.match(qe)??[];if(f!==void 0&&Array.isArray(d)&&
Number.isInteger(t._fullData?.[f]?.index))a.push([Number(f),p,d]);else if(se.test(h))o[h]=d;else return!1}let r=[...new Set(a.map(([h])=>h))].
filter(h=>t._fullData[h].visible===!0);if(!r.every(h=>Ke(t,t._fullData[h])))return!1;for(let[h,d,f]of a)ee(t.data[h],d,f),r.includes(h)&&ee(
t._fullData[h],d,f);if(!r.every(h=>He(t,h)))return!1;Ue(e,t,o);let l=new Set(r.map(h=>`${t._fullData[h].type} ${q(t._fullData[h])}`));return new Set(
[...l].map(h=>Ve(t,n?null:r,...h.split(" "),i))).forEach(h=>h?.style(t)),!0}function Ue(e,t,s){let i={};for(let[n,a]of Object.entries(s)){let[
,o,r,l]=n.match(se)??[];t.layout[o][r][l]=a,i[`${o}[${r}].opacity`]=t.layout[o][r].opacity??1}Object.keys(i).length&&e.relayout(t,i)}var q=e=>e.
xaxis+e.yaxis;function Ke(e,t){let s=e._fullLayout?._plots?.[q(t)],i=ie[t.type];if(!s||!i||t.zorder||!e.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:n,plot:a,style:o}=t._module;return[n,a,o].every(r=>typeof r=="function")&&!s.plot.select(`.${i}`).empty()}function He(e,t){let s=e.
_fullData[t],{t:i}=e.calcdata[t][0],n=e._fullLayout._plots[q(s)],a=[n.xaxis,n.yaxis].filter(c=>c.autorange),o=()=>Lt.includes(s.type)||a.every(
c=>Je(e,s,c)),r=o();Lt.includes(s.type)||(s._length=Math.min(s.x.length,s.y.length));let l=s._module.calc(e,s);return l[0].trace=s,l[0].t={...i,
...l[0].t},e.calcdata[t]=l,r&&o()}function Je(e,t,s){let n=e._fullData.find(h=>Lt.includes(h.type)&&h.visible===!0&&q(h)===q(t))?._extremes?.[s.
_id],a=t._extremes?.[s._id];if(!n?.min?.length||!a)return!1;let o=Math.abs(s.range[1]-s.range[0])/s._length,r=Math.min(...n.min.map(h=>h.val)),
l=Math.max(...n.max.map(h=>h.val)),c=({pad:h,extrapad:d})=>o*(h+(d?s._length/20:0));return a.min.every(h=>h.val-c(h)>=r)&&a.max.every(h=>h.val+
c(h)<=l)}function Ve(e,t,s,i,n){let a=e._fullLayout._plots[i],o=e.calcdata.filter(([{trace:d}])=>d?.type===s&&d.visible===!0&&d._length!==0&&
q(d)===i),{_module:r}=o[0][0].trace,l=a.plot.select(`.${ie[s]}`);if(r.crossTraceCalc?.(e,a),o.forEach(Ye),s!=="scatter")return r.plot(e,a,o,
l),r;let h=l.selectAll("g.trace").size()===o.length&&t&&!n&&o.every(([{trace:d}])=>!/^tonext/.test(d.fill)&&!d.stackgroup);return h?o.filter(
([{trace:d}])=>t.includes(d.index)).forEach(d=>r.plot(e,a,[d],l,{duration:0})):r.plot(e,a,o,l,n),a.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),h&&!o.some(([{trace:d}])=>d.error_y?.visible||d.error_x?.visible)?null:r}function Ye(e){let{error_y:t}=e[0].trace;t?.visible&&
e.forEach((s,i)=>{let n=s.i??i,a=t.array[n],o=(t.symmetric?t.array:t.arrayminus)[n];Number.isFinite(s.y)&&Number.isFinite(a)&&Number.isFinite(
o)&&Object.assign(s,{yh:s.y+a,ys:s.y-o})})}function At(e){for(let{plot:t}of Object.values(e._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Ge=matchMedia("(pointer: coarse)"),U=class{entry;tools;state;scene;revision;member;constructor(t,s,i){this.entry=t,this.tools=i,this.state=
"",this.width=0,this.revision=0,this.glides=0,this.mark=u("span",{class:"fv-letter",hidden:""},s),this.plot=u("div",{role:"group"}),this.node=
u("div",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,s,{height:i,most:n=1/0,width:a=this.plot.clientWidth,dark:o,phone:r=!1,ranges:l,
transition:c,at:h=0}){let{entry:d,plot:f,tools:p}=this,{index:x,Plotly:b}=p,m=a<460&&Yt(d,a,r);if(this.narrow=!!m&&r,d.layout.yaxis?.scaleanchor&&
!d.layout.xaxis2){let{t:v,b:k,l:W,r:C}=(m||null)?.margin??{},R=m?v+k+a-W-C-(d.phases.length?0:66):B(d.layout)+a-100;i=Math.round(m?Math.min(
R,Math.max(n,v+k+85)):Math.max(300,Math.min(i,R)))}if(d.layout.yaxis?.scaleanchor&&d.layout.xaxis2&&!m){let v=Object.keys(d.layout).filter(k=>/^xaxis\d*$/.
test(k)).length;i=Math.round(Math.max(300,Math.min(i,B(d.layout)+(a-160)/v+70)))}m&&d.phases.length&&(l=this.low(l,(i-m.margin.t-m.margin.b)/
(a-m.margin.l-m.margin.r),s));let z=m||Kt(d,l,a,i),w=d.binds.some(v=>v.rows!=="all"&&v.rows!=="phase"),M=[z&&a,o,i,JSON.stringify(l)].join("\
/"),O=[M,t.meta.method,t.meta.radius,t.version??0,w?s:""].join("/"),L=`${O}/${h}`;if(this.state===L)return this.resize(a),!1;let g=!this.state,
y=d.binds.map(v=>wt(v,x.fields,t,s,h));if(this.place===O&&!st.matches)return this.slide(y,{state:L,at:h,dark:o}),!1;this.place=O,d.phases.length&&
(f.dataset.phase=h);let E=g||this.scene!==M?null:d.binds.flatMap(({path:v},k)=>at(y[k],this.values[k])?[]:[[v,o?T(y[k]):y[k]]]);this.state=L,
this.scene=M,this.member=t,this.values=y;let _=performance.now()<this.glides;if(_&&At(f),this.glides=c?performance.now()+c.duration+100:0,E&&
Et(b,f,E,c,_))return this.resize(a),this.spread(),!0;let $={data:d.data,layout:{...d.layout,height:i,uirevision:"kept",datarevision:++this.revision}};
d.binds.forEach((v,k)=>{$=G($,v.path.split("."),y[k])});for(let[v,k]of Object.entries(l))$=G($,["layout",v,"range"],k);return z&&($.layout={
...$.layout,margin:z.margin}),$.layout=Ht($.layout,a),$=Jt($,a,i),m&&($.data=Mt($.data).map(v=>Zt(v,d))),this.print=m?Qt($.layout):"",m&&($.
layout=te({...$.layout,...Xt($,a)},d,r)),Ge.matches&&($.layout.dragmode=!1),o?$={data:T($.data),layout:T($.layout)}:$={data:$.data.map(v=>({
...v})),layout:$.layout},this.width=a,f.style.height=`${i}px`,b.react(f,$.data,$.layout,x.config),g?this.listen():f._fullLayout.width!==a&&b.
Plots.resize(f),this.spread(),!0}low(t,s,i){let{entry:n,tools:a}=this,[o,r]=["xaxis","yaxis"].map(d=>t[d]??n.layout[d].range),l=(r[0]+r[1])/
2,c=n.binds.filter(({path:d})=>d.endsWith(".y")),h=s*(o[1]-o[0])/2;for(let d of c)for(let f of a.members)for(let p of n.phases.keys())for(let x of wt(
d,a.index.fields,f,i,p))h=Math.max(h,1.06*Math.abs(x-l)||0);return h<r[1]-l?{...t,yaxis:[l-h,l+h]}:t}slide(t,{state:s,at:i,dark:n}){let{entry:a,
plot:o,tools:r}=this,l=this.values,c=performance.now(),h=c<this.glides;h&&At(o),this.state=s,this.glides=0,delete o.dataset.phase;let d=()=>{
if(this.state!==s)return;let f=Math.min(1,(performance.now()-c)/It),p=f*f*(3-2*f),x=t.map((z,w)=>a.binds[w].rows==="phase"?yt(l[w],z,p):z),b=a.
binds.flatMap(({path:z},w)=>at(x[w],this.values[w])?[]:[[z,n?T(x[w]):x[w]]]);this.values=x;let m=o.clientWidth&&Et(r.Plotly,o,b,void 0,h);h=
!1,m?f<1?requestAnimationFrame(d):(o.dataset.phase=i,this.spread()):(this.renew(),r.redraw())};requestAnimationFrame(d)}spread(){if(!this.entry.
phases.length)return;let{left:t,right:s,top:i,bottom:n}=this.plot.querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.getBoundingClientRect()??
{},a=[];for(let o of this.plot.querySelectorAll(".scatterlayer .textpoint")){o.style.transform="";let r=o.getBoundingClientRect();if(!r.width)
continue;let l=([d,f])=>({left:r.left+d,right:r.right+d,top:r.top+f,bottom:r.bottom+f}),c=d=>{let f=l(d);return f.left>t&&f.right<s&&f.top>i&&
f.bottom<n&&a.every(p=>f.right<p.left||f.left>p.right||f.bottom<p.top+3||f.top>p.bottom-3)},h=[0,14,26,40].flatMap(d=>[[0,-d],[0,d],[d,0],[-d,
0],[d,-d],[-d,-d],[d,d],[-d,d]]).find(c);o.style.visibility=h?"":"hidden",h&&(o.style.transform=`translate(${h[0]}px, ${h[1]}px)`,a.push(l(h)))}}renew(){
this.state&&(this.state="elsewhere",this.scene="",this.place="")}describe(t){this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){
let s=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(s-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){
let t=i=>this.drawOf(i.points?.[0]),s=i=>n=>{let a=t(n);a!==null&&this.tools.point(i,a)};this.plot.on("plotly_hover",s("hover")),this.plot.on(
"plotly_click",s("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),this.plot.on("plotly_relayout",()=>this.tools.replace(
this))}drawOf(t){if(!t)return null;let{link:s}=this.entry,i=s[t.data.name];return i==="draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/
this.perDraw(t.data)):s.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){
this.rings.forEach(r=>r.remove()),this.rings=[];let s=this.plot._fullLayout;if(t===null||!this.state||!s)return;let i=(r,l)=>{let c=u("div",
{class:r,style:Object.entries(l).map(([h,d])=>`${h}:${d.toFixed(1)}px`).join(";")});this.rings.push(c),this.node.append(c)},{link:n}=this.entry,
a=this.plot.offsetTop,o=this.plot.offsetLeft;for(let r of this.plot._fullData){let l=n[r.name],c=s[Ot(r.xaxis??"x")],h=s[Ot(r.yaxis??"y")];if(!l||
!c?.d2p||!r.x)continue;let d=l==="draws"?1:this.perDraw(r);for(let f=t*d;f<(t+1)*d&&f<r.x.length;f++){let p={left:o+c._offset+c.d2p(r.x[f]),
top:a+h._offset+h.d2p(r.y[f])};Number.isFinite(p.left)&&Number.isFinite(p.top)&&i("fv-ring",p)}}if(n.x==="sizes"&&s.xaxis?.d2p){let{t:r,h:l}=s.
_size;i("fv-rule",{left:o+s.xaxis._offset+s.xaxis.d2p(t+1),top:a+r,height:l})}}image(t,s=1){let{width:i,height:n}=this.plot._fullLayout;return this.
tools.Plotly.toImage(this.plot,{format:t,width:i,height:n,scale:s})}};var Xe=255,Ze=254;function jt(e){if(!e.images){let{pool:t,labels:s,shown:i,nats:n,n_draws:a,classes:o,probs:r}=e.meta.images,l=K(r);e.images=
{classes:o,kept:c=>Math.min(c,a),prob(c,h,d){let f=l[(c*t.length+h)*o.length+d];return f===Xe?NaN:f/Ze},of:c=>i[c-1].map((h,d)=>({place:h,row:t[h],
label:s[h],nats:n[c-1][d]}))}}return e.images}var _t=new WeakMap;function ne(e,...t){for(let s of t){let i=s?.rows?.indexOf(e)??-1;if(i<0)continue;
_t.has(s)||_t.set(s,{bytes:K(s.pixels),urls:new Map});let{bytes:n,urls:a}=_t.get(s),[o,r,l=1]=s.shape;if(!a.has(e)){let c=u("canvas",{width:r,
height:o}),h=c.getContext("2d"),d=h.createImageData(r,o);for(let f=0;f<o*r;f++){for(let p=0;p<3;p++)d.data[4*f+p]=n[i*o*r*l+f*l+(l>1?p:0)];d.
data[4*f+3]=255}h.putImageData(d,0,0),a.set(e,c.toDataURL())}return a.get(e)}return""}var ot=12,V=(e,t)=>e.length>t?`${e.slice(0,Math.max(1,
t-1))}…`:e,ae=e=>`${(100*e).toFixed(0)} %`;function oe(e,t,{left:s,top:i,width:n,height:a,turned:o,foot:r}){let{now:l,n:c,ink:h,lit:d}=e,{classes:f}=t,p=t.kept(c),x=n/f.length,b=g=>s+
(g+.5)*x,m=g=>i+(1-g)*a;e.chart={x:b,y:m,step:x,items:t};let z=A("g",{"data-chart":l.row}),w=(g,y)=>z.append(A("text",y,g));z.append(A("rect",
{x:s,y:i,width:n,height:a,fill:"transparent"}));for(let g of[0,.25,.5,.75,1])z.append(A("line",{x1:s,x2:s+n,y1:m(g),y2:m(g),stroke:h.line})),
w(g,{x:s-6,y:m(g)+4,"text-anchor":"end",fill:h.soft});let{color:M}=e.member.meta.images;f.forEach((g,y)=>{let E=Array.from({length:p},($,v)=>t.
prob(v,l.place,y)).reduce(($,v)=>$+v,0)/p;Number.isFinite(E)&&z.append(A("rect",{class:"fv-mean",x:b(y)-.36*x,y:m(E),width:.72*x,height:E*a,
fill:M,"fill-opacity":e.dark?.6:.35}));let _={x:b(y),y:i+a+16,"text-anchor":o?"end":"middle","font-weight":y===l.label?700:400};w(V(g,ot),o?
{..._,transform:`rotate(-40 ${b(y)} ${i+a+16})`}:_)});let O=g=>f.map((y,E)=>[b(E),m(t.prob(g,l.place,E))]).filter(([,y])=>Number.isFinite(y)).
map(y=>y.map(E=>E.toFixed(2)).join(",")).join(" "),L=(g,y)=>z.append(A("polyline",{"data-draw":g,points:O(g),fill:"none","stroke-linejoin":"\
round",...y}));for(let g=0;g<p;g++)L(g,{stroke:e.dark?h.ink:M,"stroke-width":1.2,"stroke-opacity":.55});return d!==null&&d<p&&L(d,{stroke:h.
mark,"stroke-width":3.5}),w(`Test image ${l.row}, label ${f[l.label]}`,{x:s-30,y:i-36,"font-size":15}),w(p===1?"one draw: its probabilities":
`bars: mean of ${p} draws; lines: single draws${d!==null&&d<p?`; thick: draw ${d+1}`:""}`,{x:s-30,y:i-16,fill:h.soft}),w("class (bold: the l\
abel)",{x:s+n/2,y:i+a+r,"text-anchor":"middle",fill:h.soft}),z}var rt=class extends U{chosen;n;height;dark;chart;ink;constructor(t,s,i){super(t,s,i),this.lit=this.pointed=null;let n=o=>o.target.closest?.(
"[data-row]"),a=o=>o.target.closest?.("[data-chart]");this.plot.addEventListener("pointermove",o=>{let r=n(o);r?this.show(Number(r.dataset.row)):
a(o)&&this.point("hover",o)}),this.plot.addEventListener("pointerleave",()=>{this.show(null),this.tools.point("hover",null)}),this.plot.addEventListener(
"click",o=>{let r=n(o);r?this.tools.choose("image",r.dataset.row):a(o)&&this.point("click",o)}),this.plot.addEventListener("keydown",o=>{let r=n(
o);r&&(o.key==="Enter"||o.key===" ")&&(o.preventDefault(),this.tools.choose("image",r.dataset.row))}),this.plot.addEventListener("focusin",o=>{
let r=n(o);r&&!this.painting&&this.show(Number(r.dataset.row))})}draw(t,s,{height:i,width:n=this.plot.clientWidth,dark:a}){let{tools:o}=this,
r=o.chosen().image??"",l=[n,t.meta.method,t.meta.radius,t.version??0,s,a,i,r].join("/");return this.state===l?!1:(r!==this.chosen&&(this.pointed=
null),this.state=l,this.member=t,this.n=s,this.height=i,this.dark=a,this.chosen=r,this.width=n,this.paint(),!0)}resize(){!this.state||!this.
plot.clientWidth||this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,this.paint())}light(t){this.lit===t||!this.state||(this.
lit=t,this.paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,s){let{left:i,top:n}=this.plot.firstChild.
getBoundingClientRect(),{x:a,y:o,step:r,items:l}=this.chart,c=Math.max(0,Math.min(l.classes.length-1,Math.floor((s.clientX-i-a(0)+r/2)/r))),
h=f=>{let p=l.prob(f,this.now.place,c);return Number.isFinite(p)?Math.abs(o(p)-(s.clientY-n)):1/0},d=Array.from({length:l.kept(this.n)},(f,p)=>p).
reduce((f,p)=>h(p)<h(f)?p:f,0);h(d)<14?this.tools.point(t,d):t==="hover"&&this.tools.point("hover",null)}paint(){let{plot:t,member:s,n:i,width:n,
height:a,dark:o}=this;if(!n)return;let r=jt(s),l=r.of(i),c=n>=620;this.ink=o?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"\
#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"};let h=[this.pointed,Number(this.chosen||NaN)].find(g=>l.
some(y=>y.row===g))??l[0].row;this.now=l.find(g=>g.row===h);let d=document.activeElement,f=t.contains(d)?d.dataset.row:null,p=A("svg",{width:n,
height:a,viewBox:`0 0 ${n} ${a}`,"font-size":12,"font-family":"system-ui, sans-serif",fill:this.ink.ink});p.append(A("rect",{width:n,height:a,
fill:this.ink.paper}));let x=c?{left:8,top:34,width:.52*n-16,height:a-40}:{left:6,top:30,width:n-12,height:.54*a-30},b=c?.48*n-62:n-52,m=Math.
min(ot,Math.max(...r.classes.map(g=>g.length))),z=b/r.classes.length<7*m,w=z?34+4.3*m:36,M=c?{left:.52*n+46,top:58,width:b,height:a-82-w,turned:z,
foot:w}:{left:40,top:.54*a+50,width:b,height:.46*a-60-w,turned:z,foot:w},O=(g,y,E,_=15)=>p.append(A("text",{x:y,y:E,"font-size":_},g)),L=r.kept(
i)===1?"it is least sure":"the draws disagree most";O(c&&r.kept(i)>1?`Images on which ${L}`:`Where ${L}`,x.left+(this.mark.hidden?4:18),22),
l.forEach((g,y)=>p.append(this.tile(r,g,y,l.length,x))),p.append(oe(this,r,M)),t.style.height=`${a}px`,t.replaceChildren(p),this.painting=!0,
f&&t.querySelector(`[data-row="${f}"]`)?.focus(),this.painting=!1,this.drawn={rows:l.map(g=>g.row),row:h},this.name()}describe(t){this.words=
t,this.name()}name(){if(!this.now||!this.words)return;let{classes:t,of:s}=jt(this.member),i=s(this.n).map(n=>t[n.label]).join(", ");this.plot.
setAttribute("aria-label",`${this.words} Labels of the images: ${i}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{
place:s,row:i,label:n,nats:a},o,r,{left:l,top:c,width:h,height:d}){let p=Math.ceil(r/4),x=h/4,b=Math.min(x-10,d/p-48),m=b+48,z=l+o%4*x+(x-b)/
2,w=c+Math.floor(o/4)*m,{member:M,tools:O,lit:L,n:g,ink:y}=this,E=t.kept(g),{classes:_}=t,$=new Map;for(let S=0;S<E;S++){let I=this.best(t,S,
s);$.set(I,($.get(I)??0)+1)}let v=[...$].sort((S,I)=>I[1]-S[1]),k=L!==null&&L<E?this.best(t,L,s):null,W=k===null?v.map(([S,I])=>`${_[S]??"no\
ne"}${E>1?`×${I}`:""}`).join(" "):`${x>110?`draw ${L+1}: `:""}${_[k]??"none"}, ${ae(t.prob(L,s,k))}`,C=Math.floor((x-8)/6.9),R=V(W,C),Y=a.toFixed(
2),ye=[`${_[n]} · ${Y} nats`,`${_[n]} · ${Y}`].find(S=>S.length<=C)??`${V(_[n],C-Y.length-3)} · ${Y}`,Ft=`test image ${i}, label ${_[n]},\
 disagreement ${a.toFixed(2)} nats; answers ${W}`,ke=A("image",{x:z,y:w,width:b,height:b,href:ne(i,M.meta.images,O.index.images),style:"imag\
e-rendering:pixelated"}),ze={x:z-1,y:w-1,width:b+2,height:b+2,fill:"none"},bt=this.now.row===i,$e=k!==null&&k!==n;return A("g",{"data-row":i,
role:"button",tabindex:0,"aria-label":Ft,"aria-pressed":bt,style:"cursor:pointer"},A("title",{},Ft),ke,A("rect",{...ze,stroke:bt?y.mark:y.line,
"stroke-width":bt?3:1}),A("text",{x:z+b/2,y:w+b+16,"text-anchor":"middle"},ye),A("text",{x:z+b/2,y:w+b+32,"text-anchor":"middle","font-size":11.5,
class:"fv-said","font-weight":k===null?400:600,fill:k===null?y.soft:$e?y.mark:y.ink},R))}best(t,s,i){let n=NaN,a=-1;return t.classes.forEach(
(o,r)=>{let l=t.prob(s,i,r);l>a&&([n,a]=[r,l])}),n}async image(t,s=1){let{width:i,height:n}=this,a=this.plot.firstChild.cloneNode(!0);a.setAttribute(
"xmlns","http://www.w3.org/2000/svg");let o=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(a))}`;if(t==="svg")
return o;let r=await it(o),l=u("canvas",{width:i*s,height:n*s});return l.getContext("2d").drawImage(r,0,0,l.width,l.height),l.toDataURL("ima\
ge/png")}};var Ct={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},lt=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:s,
members:i},n,a){this.model=t,this.most=s,this.methods=i.map(o=>o.method),this.changed=n,this.acted=a,this.past=[],this.last="",this.when=0,this.
start=this.all}get all(){let{model:t}=this,s=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("ra\
dius"),n_draws:s,...Ct,...t.get("look")??{}}}change(t){let s=Object.keys(t).join(),i=Date.now();(s!==this.last||i-this.when>700)&&this.past.
push(this.all),this.past.length>100&&this.past.shift(),this.last=s,this.when=i,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:s,
n_draws:i,...n}){let a=Object.fromEntries(Object.keys(Ct).map(o=>[o,n[o]??Ct[o]]));for(let[o,r]of Object.entries({method:t,radius:s,n_draws:i,
look:a}))this.model.set(o,r);this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put(
{...this.past.pop(),step:this.all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:s,
n_draws:i,tab:n,compare:a,picked:o,chosen:r,step:l,phase:c}=this.all,h=new URLSearchParams({method:t,radius:s,draws:i});n&&h.set("tab",n),a&&
h.set("b",`${a.radius}:${a.method}`),o!==null&&h.set("draw",o+1),l!==this.start.step&&h.set("step",l+1),c!==null&&h.set("phase",c+1);for(let[
d,f]of Object.entries(r))h.set(`see.${d}`,f);return`#${h}`}read(t){let s=new URLSearchParams(t.replace(/^#/,"")),i={},n=(l,c)=>{let h=s.has(
l)?Number(s.get(l)):NaN;return h>=c&&Number.isFinite(h)?h:null};this.methods.includes(s.get("method"))&&(i.method=s.get("method")),n("radius",
0)!==null&&(i.radius=n("radius",0)),n("draws",1)!==null&&(i.n_draws=Math.round(n("draws",1))),s.has("tab")&&(i.tab=s.get("tab")),n("draw",1)!==
null&&(i.picked=Math.round(n("draw",1))-1),n("step",0)!==null&&(i.step=Math.round(n("step",1))-1),n("phase",1)!==null&&(i.phase=Math.round(n(
"phase",1))-1);let[,a,o]=s.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];o!==void 0&&Number.isFinite(Number(a))&&(i.compare={method:o,radius:Number(
a)});let r=[...s].filter(([l])=>l.startsWith("see.")).map(([l,c])=>[l.slice(4),c]);r.length&&(i.chosen=Object.fromEntries(r)),Object.keys(i).
length&&this.put({...this.start,...i})}};var ht=class{page;story;constructor(t,s){this.story=t,this.page=s,this.explored=null,this.rest=0,this.sections=t.map(i=>u("section",{},u("h2",
{},i.title),...Ut(i.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:s}=this,i=s+.45*(window.innerHeight-s),n=Math.
max(0,t.findLastIndex(a=>a.getBoundingClientRect().top<i));return n<t.length-1?n:-1}follow(){let{page:{state:t,resting:s},story:i}=this,n=this.
inSight(),a=t.all;if(s()||n===a.step)return;a.step<0&&(this.explored=a);let{method:o,radius:r,n_draws:l}=t.start;t.acted({step:n}),t.put(n<0&&
this.explored||{method:o,radius:r,n_draws:l,...i.at(n).set,step:n})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Qe=40,ts=450;async function St(e,t){for(let[s,i,n]of e){let{method:a,radius:o}=n.member.meta;zt(await n.image(t,t==="png"?2:1),["flatviz",
i.name,a,o||"",s==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function re({el:e,state:t,member:s,radii:i,shown:n}){let a=t.all,{method:o,
label:r}=s.meta,l=[];for(let O of i){for(t.put({...a,radius:O});e.dataset.state!==`${o}/${O}/${a.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:O,images:await Promise.all(n().map(async([,,L])=>it(await L.image("png"))))})}t.put(a);let c=Math.max(...l.map(({images:O})=>O.
reduce((L,g)=>L+g.width,0))),h=Math.max(...l.flatMap(({images:O})=>O.map(L=>L.height))),d=u("canvas",{width:c+c%2,height:h+Qe+h%2}),f=d.getContext(
"2d"),{color:p,backgroundColor:x,fontFamily:b}=getComputedStyle(e),m=[],z=["video/mp4","video/webm"].find(O=>MediaRecorder.isTypeSupported(O)),
w=new MediaRecorder(d.captureStream(),{mimeType:z,videoBitsPerSecond:4e6}),M=new Promise(O=>{w.addEventListener("stop",O)});w.addEventListener(
"dataavailable",({data:O})=>m.push(O)),w.start();for(let{radius:O,images:L}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(f,{fillStyle:x,
font:`600 18px ${b}`}),f.fillRect(0,0,d.width,d.height),L.reduce((g,y)=>(f.drawImage(y,g,0),g+y.width),0),f.fillStyle=p,f.fillText(`${r}, ra\
dius ${O}`,14,d.height-14),await new Promise(g=>{setTimeout(g,ts)});w.stop(),await M,zt(URL.createObjectURL(new Blob(m,{type:z})),`flatviz-${o}\
-radius.${z?.slice(6)}`)}function le(e,t,{n_draws:s,phase:i}){let n=e.filter(([,a])=>a.kind==="plotly").map(([,a,{member:{meta:o}}])=>{let l=a.
phases.length&&i!==null?`, phase=${JSON.stringify(t.phases[Math.min(i,t.phases.length-1)])}`:"";return`fv.widgets.plot_view(family, ${JSON.stringify(
a.name)}, method=${JSON.stringify(o.method)}, radius=${o.radius}, n_draws=${s}${l})`});return["import flatviz as fv","",...t.code??[],...n].
join(`
`)}var dt=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,s){
let{node:i}=this;i.hidden=!1,i.value=t,i.select(),navigator.clipboard?.writeText(t).then(()=>i.setAttribute("aria-label",`${s}, copied`),()=>{});
let n=a=>{a.target!==i&&(i.hidden=!0,document.removeEventListener("pointerdown",n))};document.addEventListener("pointerdown",n)}};function he(e){e.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return e.addEventListener("keydown",t),()=>e.removeEventListener("keydown",t)}var de=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
`;function ce(e){let{state:t,index:s,members:i,hash:n,ask:a}=e;e.a=new H("",o=>t.change(o)),e.b=new H("B",o=>t.change({compare:{method:e.b.method,
radius:e.b.wanted,...o}})),e.draws=u("input",{type:"range",class:"fv-draws",min:1,max:s.n_max,step:1,"aria-label":"ensemble size"}),e.drawsText=
u("output"),e.draws.addEventListener("input",()=>t.change({n_draws:Number(e.draws.value)})),e.compare=P("Compare","two states side by side, \
on the same scales",()=>{let o=e.current(),r=i.methods.find(l=>l==="vi"&&l!==o.a.method)??o.a.method;t.change({compare:o.b?null:{method:r,radius:i.
stops(r)[0]}})}),e.player=new J(o=>ss(e,o),"go through the fitted radii of this method"),e.undo=P("Undo","take the last change back",()=>t.undo()),
e.copied=new dt,e.more=qt("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>e.copied.take(le(e.shown(),s,t.all),"code")],...n?[["Copy link",
()=>e.copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>St(e.shown(),"svg")],["Save as PNG",()=>St(e.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:o}=e.current().a;re({el:e.el,state:t,member:o,radii:i.fitted(o.
meta.method),shown:()=>e.shown()})}]]:[]]),e.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),e.said=u("span",
{role:"status"}),e.button=P("Stop","stop or start fitting",()=>a?.(e.button.textContent==="Stop"?"stop":"run")),e.bands=P("Bands over seeds",
"fit every member again with two more seeds, behind the picture",()=>a?.("seeds")),e.bands.hidden=s.seeds!==1,e.work=u("div",{class:"fv-work"},
e.button,e.bar,e.said,e.bands),e.work.hidden=!i.live,e.note=u("div",{class:"fv-note",role:"alert",hidden:""})}function ss(e,t){let{a:{method:s,
member:i}}=e.current(),{radius:n}=i.meta,a=e.members.fitted(s),o=a.find(r=>r>n)??(t?a[0]:void 0);return o===void 0||a.length<2?!1:(t&&e.state.
past.push(e.state.all),e.state.put({...e.state.all,radius:o}),!0)}function fe(e){let{el:t,index:s,state:i}=e,n=[...new Set(s.figures.map(r=>r.
group))];e.controls=u("div",{class:"fv-controls",role:"group","aria-label":"controls"},e.a.node,u("label",{},u("span",{},"ensemble size"),e.
draws,e.drawsText),e.b.node);let a=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},e.player.button,e.compare,e.undo,e.more);
e.reading=u("p",{class:"fv-reading"}),e.readingB=u("p",{class:"fv-reading",hidden:""}),e.spoken=u("div",{"aria-live":"polite"},e.reading,e.readingB),
e.names=n.length>1?[...n,"All"]:n;let o=`fv-panel-${Math.random().toString(36).slice(2)}`;e.tabs=is(e,o),e.grid=u("div",{class:"fv-figures",
role:"tabpanel",id:o,"aria-label":"pictures",tabindex:0}),e.head=u("div",{class:"fv-bar"},e.controls,e.work,e.note,e.spoken,u("div",{class:"\
fv-strip"},e.tabs,a)),e.stage=u("div",{class:"fv-stage"},e.head,e.copied.node,e.grid),e.article=new ht(s.story??[],{el:t,stage:e.stage,state:i,
resting:()=>e.stopped||e.printing||!e.placed}),t.classList.add("flatviz"),he(t),t.replaceChildren(u("style",{},de),u("div",{class:"fv-body"},
e.article.node,e.stage))}function is(e,t){let{names:s,state:i}=e,n=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"});return e.tabButtons=
s.map(a=>{let o=u("button",{type:"button",role:"tab","aria-controls":t},a);return o.addEventListener("click",()=>i.change({tab:a})),o}),n.append(
...e.tabButtons),n.addEventListener("keydown",a=>{let o={ArrowRight:1,ArrowLeft:-1}[a.key];if(!o)return;let r=(s.indexOf(e.layout.tabOf(i.all))+
o+s.length)%s.length;i.change({tab:s[r]}),e.tabButtons[r].focus()}),n.hidden=s.length<2,n}function ct(e,t){let{a:s,b:i,n_draws:n}=t,{members:a,
draws:o,drawsText:r,layout:l}=e,{offered:c}=a,{narrow:h}=l;e.a.show(s.method,t.radius,c,h),e.a.letter.textContent=i?"A":"",e.b.node.hidden=!i,
i&&e.b.show(i.method,t.compare.radius,c,h),o.value=n,o.disabled=[s,i].every(b=>!b||b.member.meta.n_draws===1),r.textContent=o.disabled?"one \
point":et(n,"draw"),o.setAttribute("aria-valuetext",r.textContent),e.compare.setAttribute("aria-pressed",!!i),e.compare.textContent=i?"One s\
tate":"Compare",e.undo.disabled=!e.state.past.length,e.player.button.disabled=a.of(s.method).length<2;let d=e.hovered??t.picked,f=h&&l.reads(
t),p=(b,m)=>[(i?`${m}: `:"")+(f?a.numbers(b,n):a.sentence(b,n)),u("span",{class:"fv-draw"},d===null?"":a.aboutDraw(b,d))];e.reading.replaceChildren(
...p(s,"A")),e.readingB.hidden=!i,i&&e.readingB.replaceChildren(...p(i,"B"));let x=l.tabOf(t);e.el.classList.toggle("fv-drawn",e.frames.some(
b=>l.inTab(b,x)&&Object.keys(b.entry(t.chosen).link).length>0)),e.tabButtons.forEach((b,m)=>{b.setAttribute("aria-selected",e.names[m]===x),
b.tabIndex=e.names[m]===x?0:-1})}function ft(e,{phases:t},{phase:s}){return t.length&&Math.min(s??t.length,t.length-1)}function pt(e){let{layout:t,el:s}=e,i=e.current();t.arrange(
i),ct(e,i),!e.placed&&!e.stopped&&(e.placed=!0,e.article.goTo());let n=Q()&&!e.printing;s.dataset.theme=n?"dark":"light",e.pending=e.frames.
filter(o=>!o.node.hidden).flatMap(o=>ns(e,o,i));for(let o of e.pending)o.height=t.height(i,o.frame),o.most=e.printing?1/0:t.reads(i)||i.b&&s.
clientWidth<640?o.height:t.screen-t.tall(e.head,i)-8,o.picture.state&&(o.width=o.picture.plot.clientWidth);let a=({frame:o})=>{let{top:r,bottom:l}=o.
node.getBoundingClientRect();return l<0||r>window.innerHeight};t.tabOf(i)==="All"&&e.pending.sort((o,r)=>Number(a(o))-Number(a(r))),pe(e,i,n)}
function ns(e,t,s){let i=t.entry(s.chosen),n=i.kind==="plotly"&&!i.binds.length,a=s.b&&!n?{A:s.a,B:s.b}:{A:s.a};if(t.shown!==`${i.name}/${Object.
keys(a)}`){t.shown=`${i.name}/${Object.keys(a)}`,t.node.dataset.name=i.name;for(let[l,c]of Object.entries(i.option))t.menus[l].value=c;let r=Object.
keys(a).map(l=>t.made[i.name+l]??=new(i.kind==="images"?rt:U)(i,l,e.tools));t.pair.replaceChildren(...r.map(l=>l.node))}let o=s.a.member.meta.
captions?.[i.name]??i.caption;return t.caption.textContent!==o&&(t.caption.textContent=o),t.phases?.show(i.phases,ft(e,i,s)),Object.entries(
a).flatMap(([r,{member:l}])=>{let c=t.made[i.name+r],h=!!l.meta.waiting?.includes(i.name);return c.node.classList.toggle("fv-waits",h),h?[]:
(c.mark.hidden=!s.b||n,[{frame:t,picture:c,member:l,entry:i,height:0,most:0,width:void 0}])})}function pe(e,t,s){let{members:i,pending:n,el:a}=e,
o=performance.now()+(e.printing?1e9:30);for(;n.length;){let{frame:r,picture:l,member:c,entry:h,height:d,most:f,width:p}=n.shift(),x=ft(e,h,t);
l.draw(c,t.n_draws,{height:d,most:f,width:p,dark:s,phone:e.layout.narrow,ranges:i.ranges(h),transition:e.player.glide,at:x})&&l.light(e.hovered??
t.picked);let[b]=(h.layout.title?.text??"").split("<br>");r.about.firstChild.textContent=l.narrow&&b?`${b}: what is this?`:"What is this?",l.
print&&!r.caption.textContent.endsWith(l.print)&&r.caption.append(l.print);let m=h.phases[x]?.[0];if(l.describe(`${c.meta.alts[h.name]}${m?`\
; ${m}`:""}. ${i.sentence({member:c,wanted:c.meta.radius,method:c.meta.method},t.n_draws)}`),performance.now()>o&&n.length){requestAnimationFrame(
()=>{e.pending===n&&!e.stopped&&pe(e,t,s)});return}}if(a.dataset.state=`${t.a.method}/${t.a.member.meta.radius}/${t.n_draws}`,a.dataset.shown=
t.a.member.meta.note?"preview":"fitted",a.dataset.look=`${e.layout.tabOf(t)}${t.b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,e.hash&&
!e.stale){let r=location.hash;e.later("address",()=>{location.hash===r&&history.replaceState(null,"",e.state.hash)},100)}e.stale&&performance.
mark("flatviz-drawn"),e.stale=!1,i.live&&e.later("shot",()=>e.photograph(),1500)}function me(e){let{el:t,state:s,model:i,article:n}=e,a=[],o=0,r=(h,d,f,p)=>{h.addEventListener(d,f,p),a.push(()=>h.removeEventListener(d,f))},
l=["radius","n_draws","method","look"].map(h=>`change:${h}`);for(let h of l)i.on(h,e.schedule);let c=new ResizeObserver(()=>{e.stopped||!t.clientWidth||
(t.clientWidth!==o&&(o=t.clientWidth,e.placed=!1,e.layout.arrange(e.current()),e.schedule()),e.pictures.forEach(h=>h.resize()),e.mark())});[
t,e.grid].forEach(h=>c.observe(h)),a.push(tt(e.schedule),()=>c.disconnect(),()=>l.forEach(h=>i.off?.(h,e.schedule))),r(window,"beforeprint",
()=>ue(e,!0)),r(window,"afterprint",()=>ue(e,!1)),r(window,"resize",e.schedule),n.story.length&&r(window,"scroll",n.scrolled,{passive:!0}),e.
hash&&(r(window,"hashchange",()=>{location.hash!==s.hash&&(s.read(location.hash),e.placed=!1)}),location.hash.length>1&&s.read(location.hash)),
e.forget=()=>a.forEach(h=>h())}function ue(e,t){e.printing=t,e.el.style.width=t?"660px":"",pt(e),t&&e.pictures.forEach(s=>s.resize())}var ve=e=>Object.values(e.option).join(", "),ut=class{entries;choose;menus;slot;constructor(t,s){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),this.slot=t.slot,this.group=t.group,this.span=t.span,this.least=t.least,
this.choose=s,this.entries=[],this.menus={},this.made={},this.shown=""}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){
for(let s of Object.keys(this.entries[0].option)){let i=[...new Set(this.entries.map(a=>a.option[s]))],n=u("select",{"aria-label":`${s} of t\
his picture`},...i.map(a=>u("option",{value:a},a)));n.addEventListener("change",()=>{let a=this.entry(t()).option,o=l=>Object.keys(a).filter(
c=>l.option[c]===a[c]).length,r=this.entries.filter(l=>l.option[s]===n.value);this.choose(ve(r.reduce((l,c)=>o(c)>o(l)?c:l)))}),this.menus[s]=
n,i.length>1&&this.choice.append(n)}}entry(t){return this.entries.find(s=>ve(s)===t[this.slot])??this.entries[0]}phase(t,s){this.phases=new nt(
t,s),this.pair.after(this.phases.node)}},mt=class{page;frames;tallest;constructor(t,s){this.frames=t,this.page=s,this.tallest=new Map}tabOf({
tab:t}){let{names:s,printing:i}=this.page;return i()?"All":s.includes(t)?t:s[0]}inTab(t,s){return s==="All"||t.group===s}reads(t){return this.
page.article.reads(t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<640&&!this.page.printing()}get screen(){return this.
page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,s){let i=r=>r.reduce((l,c)=>l+c,0),n=i(s.
map(r=>r.span)),a=s.map(r=>Math.ceil(12*r.least/this.page.grid.clientWidth)),o=s.map(r=>Math.max(3,Math.round(12*r.span/n)));return o.some((r,l)=>r<
a[l])&&i(a)<=12&&a.every(Boolean)&&(o=a),o[o.length-1]+=12-i(o),o[s.indexOf(t)]}arrange(t){let{page:s,frames:i}=this,{el:n,grid:a,tabs:o,compare:r,
undo:l,names:c,article:{story:h}}=s,d=s.printing(),f=n.clientWidth,p=this.tabOf(t),x=this.reads(t),b=f>=900,m=i.filter(v=>this.inTab(v,p)),z={
narrow:f<640||d,beside:b&&!d,above:!b&&!d,two:t.b,reads:x,story:h.length&&!d};for(let[v,k]of Object.entries(z))n.classList.toggle(`fv-${v}`,
!!k);for(let v of[o,r,l])v.hidden=x||v===o&&c.length<2;let w=v=>a.clientWidth*this.spread(v,m)/12<v.least;x&&(!b||t.b||m.some(w))&&(m=[m.find(
v=>v.entries.some(k=>k.name===h[t.step].set?.see))??m[0]]);let M=m.reduce((v,k)=>v+k.span,0),O=p!=="All"&&(M<=12||m.length<3)&&!t.b,L=O&&m.some(
w),g=f<1e3||t.b,y=[[]],E=(v,k)=>g?12/k.length:this.spread(v,k);for(let v of m){let k=[...y.at(-1)??[],v],W=k.some(C=>a.clientWidth*E(C,k)/12<
C.least);k.length>1&&(W||k.reduce((C,R)=>C+(g?6:R.span),0)>12)&&y.push([]),y.at(-1)?.push(v)}let _=v=>E(v,y.find(k=>k.includes(v))??[v]),$=f<
640&&!d;for(let v of i)v.tap!==$&&(Object.assign(v,{tap:$}).about.open=!$),v.node.hidden=!m.includes(v),x&&!b&&t.b?v.pair.tabIndex=0:v.pair.
removeAttribute("tabindex"),v.node.style.gridColumn=(t.b||L)&&p!=="All"?"span 12":O?`span ${this.spread(v,m)}`:`span ${_(v)}`}tall(t,s){let{
el:i,note:n}=this.page,a=[i.clientWidth,!!s.b,this.reads(s),n.textContent].join(),o=this.tallest.get(t),r=t.hidden?0:Math.max(t.offsetHeight,
o?.place===a?o.px:0);return this.tallest.set(t,{place:a,px:r}),r}height(t,s){let{el:i,head:n,stage:a}=this.page,o=this.page.printing(),r=M=>this.
tall(M,t),{height:l,layout:c}=s.entry(t.chosen),{screen:h}=this,d=this.reads(t);if(d&&i.clientWidth<900)return a.clientHeight-r(n)-(s.phases?
r(s.phases.node):0)-r(s.about.firstChild)-r(s.choice)-24;let f=Object.keys(c).filter(M=>/^[xy]axis/.test(M)).length>2;if(t.b&&this.narrow)return f?
440:Math.max(230,Math.round((h-r(n)-40)/2));let p=s.phases&&!d?B(c)+92+290:300,x=i.clientWidth<690?p:Math.max(300,Math.min(p,h-r(n)-44));if(o)
return l;if(this.tabOf(t)==="All")return Math.max(x,Math.min(l,h-r(n)-40));let b=i.closest(".jp-Notebook")?0:i.getBoundingClientRect().top+window.
scrollY,m=M=>(M.phases?r(M.phases.node):0)+(d?r(M.choice)+r(M.caption):t.b?36:80),z=24+(d?Math.max(...this.frames.filter(M=>!M.node.hidden).
map(m)):m(s)),w=h-r(n)-Math.max(z,i.clientWidth>=1e3&&b<.3*h?b+48:0);return Math.round(Math.max(x,Math.min(t.b?440:560,w)))}};var be=e=>t=>`${e} ${t.toFixed(3)}`,xe={accuracy:e=>`accuracy ${(100*e).toFixed(1)} %`,nll:e=>`NLL ${e.toFixed(3)} nats`,ece:be("ECE"),rmse:e=>`\
RMSE ${j(e)}`},as={...xe,accuracy:e=>`${(100*e).toFixed(1)} % right`,nll:be("NLL")},vt=class{live;list;index;fields;constructor(t,s){this.index=
t.index,this.fields=t.index.fields,this.live=s,this.list=gt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.
list.filter(s=>s.meta.method===t)}fitted(t){return this.of(t).filter(s=>!s.meta.note).map(s=>s.meta.radius).sort((s,i)=>s-i)}stops(t){let s=this.
live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(i=>i.meta.radius),...s])].sort((i,n)=>i-n)}standing(t,s){let i=this.methods.
includes(t)?t:this.methods[0],n=this.of(i);return{method:i,wanted:s,member:n[X(n.map(a=>a.meta.radius),s)]}}get offered(){return this.methods.
map(t=>{let{label:s,unit:i}=this.of(t)[0].meta;return[t,s,this.stops(t),i,this.index.defaults[t]]})}add(t){for(let s of gt(t)){let i=this.list.
findIndex(n=>n.meta.method===s.meta.method&&n.meta.radius===s.meta.radius);i>=0&&(s.version=(this.list[i].version??0)+1),i<0?this.list.push(
s):this.list[i]=s}}ranges(t){let s={};for(let i of t.shared){let n=this.list.flatMap(a=>a.meta.ranges[t.name]?.[i]??[]);n.length&&(s[i]=[Math.
min(...n),Math.max(...n)])}return s}scores(t,s=xe){return Object.entries(s).filter(([i])=>i in this.fields).map(([i,n])=>n(t(i)))}sentence({
method:t,member:s,wanted:i},n){let a=h=>D(this.fields,s,h),o=h=>a(h)[n-1],r=s.meta.radius,l=Math.abs(r-i)>1e-6*Math.max(1,i)&&this.of(t).length>
1?`radius ${j(i)} is not fitted; shown: `:"",c=r>0?`, radius ${j(r)}${s.meta.reach??""}`:s.meta.equals?`, radius 0, which is ${s.meta.equals}`:
"";return`${l}${s.meta.label}${c}${s.meta.note??""}, ${et(Math.min(n,s.meta.n_draws),"draw")}: `+(Number.isFinite(o("nll"))?`${this.scores(o).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(a("lambda1")[0])?`largest eigenvalue λ₁ ${j(a("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},s){let i=a=>D(this.fields,t,a)[s-1],[n]=D(this.fields,t,"lambda1");return Number.isFinite(
i("nll"))?`${this.scores(i,as).join(", ")}, λ₁ ${j(n)}`:"diverged"}aboutDraw({member:t},s){let i=D(this.fields,t,"draw loss")[s],n=D(this.
fields,t,"draw distance")[s];return Number.isFinite(i)?` Draw ${s+1}: training loss ${j(i)}, ${j(n)} off the plane.`:""}};function Nt(e){return new Tt(e).handle}var Tt=class{a;b;draws;drawsText;compare;player;undo;copied;more;bar;said;button;bands;work;note;controls;reading;readingB;spoken;names;tabs;tabButtons;grid;head;stage;article;pending=[];hovered=null;timers={};waiting=!1;stopped=!1;busy=!1;printing=!1;placed=!1;stale=!0;frames=[];forget=()=>{};constructor({
Plotly:t,model:s,el:i,bundle:n,ask:a=null,hash:o=!1,former:r=null}){let{index:l}=n;Z(l.dark),this.Plotly=t,this.model=s,this.el=i,this.index=
l,this.ask=a,this.hash=o,this.schedule=this.schedule.bind(this),this.members=new vt(n,!!(l.live&&a)),this.state=new lt(s,l,this.schedule,w=>{
["method","radius","compare","step"].some(M=>M in w)&&this.player.halt(),["phase","chosen","tab","compare","step"].some(M=>M in w)&&this.frames.
forEach(M=>M.phases?.player.halt())}),r&&Object.assign(this.state,r),ce(this),fe(this);for(let w of l.figures)this.place(w);for(let w of this.
frames)w.offer(()=>this.state.all.chosen);let{grid:c,head:h,stage:d,note:f,tabs:p,compare:x,undo:b,names:m,article:z}=this;this.layout=new mt(
this.frames,{el:i,grid:c,head:h,stage:d,note:f,tabs:p,compare:x,undo:b,names:m,article:z,printing:()=>this.printing}),me(this),this.schedule()}current(){
let t=this.state.all,s=t.compare;return{...t,a:this.members.standing(t.method,t.radius),b:s&&this.members.standing(s.method,s.radius)}}get tools(){
let{Plotly:t,index:s,members:{list:i},state:n}=this;return{Plotly:t,index:s,members:i,point:(a,o)=>this.point(a,o),choose:(a,o)=>this.choose(
a,o),chosen:()=>n.all.chosen,redraw:this.schedule,replace:a=>a.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,s){
this.state.change({chosen:{...this.state.all.chosen,[t]:s}})}place(t){let s=t.slot?this.frames.find(i=>i.slot===t.slot&&i.group===t.group):null;
s||(s=new ut(t,i=>this.choose(t.slot,i)),this.grid.append(s.node),this.frames.push(s)),s.add(t),t.phases.length&&!s.phases&&s.phase(i=>this.
state.change({phase:i}),i=>this.playPhase(s,i))}playPhase(t,s){let{state:i}=this,n=t.entry(i.all.chosen),a=ft(this,n,i.all),o=n.phases.length-
1,r=s&&a===o?0:a+1;return r>o?!1:(s&&i.past.push(i.all),i.put({...i.all,phase:r}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(
t.made))}shown(){return this.frames.filter(t=>!t.node.hidden).flatMap(t=>{let s=t.entry(this.state.all.chosen);return["A","B"].map(i=>[i,s,t.
made[s.name+i]]).filter(([,,i])=>i?.node.isConnected&&i.state)})}later(t,s,i){clearTimeout(this.timers[t]),this.timers[t]=setTimeout(s,i)}schedule(){
this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&(this.el.isConnected?pt(this):setTimeout(
this.schedule,100))}))}point(t,s){let{state:i}=this;if(t==="click"){i.change({picked:i.all.picked===s?null:s});return}this.hovered!==s&&(this.
hovered=s,ct(this,this.current()),this.mark())}mark(){this.pictures.forEach(t=>t.light(t.plot.clientWidth?this.lit:null))}async photograph(){
if(!this.el.isConnected||this.busy&&this.el.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),1500);return}let t=await Promise.
all(this.shown().slice(0,2).map(([,,s])=>s.image("png")));this.stopped||this.ask("picture",{images:t,text:this.spoken.innerText})}get handle(){
let t=i=>(...n)=>this[i](...n),{state:s}=this;return{get history(){return{past:s.past,start:s.start}},add:t("add"),status:t("status"),lost:t(
"lost"),stop:t("stop")}}add(t){this.members.add(t);for(let s of t.index.figures??[]){let i=Object.assign(this.index.figures.find(a=>a.name===
s.name),s),{made:n}=this.frames.find(a=>a.entries.includes(i));(s.data||s.layout)&&["A","B"].forEach(a=>n[i.name+a]?.renew())}this.schedule()}status({
share:t,text:s,busy:i,error:n}){this.busy=i,this.bar.value=t,this.said.textContent=s,this.button.textContent=i?"Stop":"Run",this.bands.disabled=
i,this.note.hidden=!n,this.note.textContent=n??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.hidden=!1,this.note.textContent=
t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),this.frames.forEach(t=>t.phases?.player.halt()),Object.values(this.timers).forEach(
clearTimeout),this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var Bt=e=>document.getElementById(e),we=e=>JSON.parse(Bt(e).textContent??""),os=()=>new Promise(e=>{requestAnimationFrame(()=>setTimeout(e))});
async function ge(e){let t=new Blob([K(we(e))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function rs(){performance.mark("flatviz-start");let e=we("flatviz-start"),t=Bt("explorer"),s={get:r=>e[r],set:(r,l)=>{
e[r]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await os();let[i,n]=await Promise.all([ge("flatviz-index"),ge("flatviz-records")]),a=document.createElement("script");a.textContent=
Bt("plotly").textContent,document.head.append(a);let o={index:JSON.parse(new TextDecoder().decode(i)),buffer:Dt(n)};Nt({Plotly:globalThis.Plotly,
model:s,el:t,bundle:o,hash:!0})}return _e(ls);})();
