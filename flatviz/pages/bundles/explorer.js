var flatvizExplorer=(()=>{var vt=Object.defineProperty;var $e=Object.getOwnPropertyDescriptor;var Me=Object.getOwnPropertyNames;var Oe=Object.prototype.hasOwnProperty;var Le=(s,t)=>{for(var e in t)vt(s,e,{get:t[e],enumerable:!0})},Ee=(s,t,e,i)=>{if(t&&typeof t=="object"||typeof t=="function")for(let n of Me(
t))!Oe.call(s,n)&&n!==e&&vt(s,n,{get:()=>t[n],enumerable:!(i=$e(t,n))||i.enumerable});return s};var je=s=>Ee(vt({},"__esModule",{value:!0}),s);var os={};Le(os,{isDark:()=>Z,onThemeChange:()=>Q,recolored:()=>T,show:()=>St,start:()=>as});function bt(s){let{index:t}=s,e=s.buffer instanceof ArrayBuffer?s.buffer:s.buffer.buffer.slice(s.buffer.byteOffset,s.buffer.byteOffset+s.buffer.
byteLength),i=t.record;return t.members.map((n,a)=>({meta:n,data:new Float32Array(e,a*i*4,i),read:new Map}))}var K=s=>Uint8Array.from(atob(s),
t=>t.charCodeAt(0));function Nt(s){let t=s.length/4,e=new Uint8Array(s.length);for(let i=0;i<4;i++)for(let n=0;n<t;n++)e[4*n+i]=s[i*t+n];return e}
function Bt(s,[t,...e]){if(!e.length)return Array.from(s);let i=s.length/t;return Array.from({length:t},(n,a)=>Bt(s.subarray(a*i,(a+1)*i),e))}
function D(s,t,e){if(!t.read.has(e)){let{offset:i,shape:n}=s[e],a=t.data.subarray(i,i+n.reduce((r,o)=>r*o,1));t.read.set(e,Bt(a,n))}return t.
read.get(e)}function gt({field:s,rows:t},e,i,n,a){let r=i.meta.words[s];if(t==="phase")return(r??D(e,i,s))[a];if(r!==void 0)return r;let o=D(
e,i,s);return t==="draws"?o.slice(0,n):t==="segments"?o.slice(0,3*n):t==="size"?o[Math.min(n,o.length)-1]:o}function G(s,[t,...e],i){let n=Array.
isArray(s)?[...s]:{...s};return n[t]=e.length?G(n[t]??{},e,i):i,n}function xt(s,t,e){return Array.isArray(s)&&Array.isArray(t)?t.map((i,n)=>xt(
s[n],i,e)):typeof s=="number"&&typeof t=="number"?s+e*(t-s):e<.5?s:t}function X(s,t){let e=n=>n>0?Math.log10(n):-1/0,i=n=>n===t?0:Math.abs(e(
n)-e(t));return s.reduce((n,a,r)=>i(a)<i(s[n])?r:n,0)}var Ft={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function Dt(s){for(let[t,e]of Object.
entries(s))Ft[t]??=e}function Z(){let{body:s,documentElement:t}=document;return s.dataset.jpThemeLight?s.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function T(s){return typeof s=="string"?s.length<4?s:s.replace(
/#(?:[0-9a-f]{6}|fff)\b/gi,t=>Ft[t.toLowerCase()]??t):Array.isArray(s)?typeof s[0]=="number"?s:s.map(T):s===null||typeof s!="object"||ArrayBuffer.
isView(s)?s:Object.fromEntries(Object.entries(s).map(([t,e])=>[t,t==="colorscale"||t==="bdata"?e:T(e)]))}function Q(s){let t=matchMedia("(pr\
efers-color-scheme: dark)"),e=new MutationObserver(s);return e.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
e.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",s),()=>{e.disconnect(),t.removeEventListener(
"change",s)}}var Ae="http://www.w3.org/1998/Math/MathML",_e={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Ce=["max","min","log","KL","E"],Se=[
"∑","max","min"],Te=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,N=(s,...t)=>({tag:s,inside:t});function Ne(s){let t=(s.match(
Te)??[]).filter(o=>o.trim()),e=0,i=()=>{let o=[];for(;e<t.length&&t[e]!=="}";)o.push(a());return e+=1,o.length===1?o[0]:N("mrow",...o)},n=()=>{
let o=t[e++]??"";if(o==="{")return i();let l=o.startsWith("\\")?o.slice(1):"";if(l==="frac")return N("mfrac",n(),n());if(l==="sqrt")return N(
"msqrt",n());if(l==="text"){let d=++e;for(;e<t.length&&t[e]!=="}";)e+=1;return{tag:"mtext",text:t.slice(d,e++).join("")}}if(Ce.includes(l))return{
tag:"mo",text:l};let h=l?_e[l]??l:o;return/^[0-9.]+$/.test(h)?{tag:"mn",text:h}:h.endsWith("′")?N("mrow",{tag:"mi",text:h[0]},{tag:"mo",text:"\
′"}):/^\p{L}$/u.test(h)?{tag:"mi",text:h}:{tag:h===" "?"mtext":"mo",text:h}},a=()=>{let o=n(),l={};for(;t[e]==="_"||t[e]==="^";)l[t[e++]]=
n();let{_:h,"^":d}=l,c=Se.includes(o.text??"");return h&&d?N(c?"munderover":"msubsup",o,h,d):h?N(c?"munder":"msub",o,h):d?N("msup",o,d):o},r=[];
for(;e<t.length;)r.push(a());return N("math",N("mrow",...r))}function Pt({tag:s,text:t,inside:e=[]}){let i=document.createElementNS(Ae,s);return t&&
(i.textContent=t),t==="′"&&i.setAttribute("lspace","0"),/^[()[\]|∥]$/.test(t??"")&&i.setAttribute("stretchy","false"),i.append(...e.map(
Pt)),i}function Wt(s){let t=Pt(Ne(s));return t.setAttribute("display","block"),t}function u(s,t={},...e){let i=document.createElement(s);for(let[n,a]of Object.entries(t))i.setAttribute(n,a);return i.append(...e),i}var C=s=>Number(
s.toPrecision(3)).toString(),et=(s,t)=>`${s} ${t}${s===1?"":"s"}`,H=class{method;wanted;stops;constructor(t,e){this.change=e,this.remembered=
{};let i=t?` ${t}`:"";this.letter=u("span",{class:"fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`\
method${i}`}),this.radius=u("input",{type:"range",class:"fv-radius",min:0,step:1,"aria-label":`radius${i}`}),this.text=u("output"),this.node=
u("div",{class:"fv-side"},this.letter,u("label",{},u("span",{},`method${i}`),this.select),u("label",{},u("span",{},`radius${i}`),this.radius,
this.text)),this.select.addEventListener("change",()=>{this.remembered[this.method]=this.wanted;let n=this.select.value,a=this.stopsOf(n);e(
{method:n,radius:this.remembered[n]??this.first(n)??a[Math.ceil((a.length-1)/2)]})}),this.radius.addEventListener("input",()=>e({radius:this.
stops[Number(this.radius.value)]}))}show(t,e,i,n=!1){let a=i.map(([l,,h])=>`${l}:${h.length}`).join()+t;a!==this.key&&(this.key=a,this.stopsOf=
l=>i.find(h=>h[0]===l)[2],this.first=l=>i.find(h=>h[0]===l)[4],this.select.replaceChildren(...i.map(([l,h])=>{let d=u("option",{value:l},h);
return d.selected=l===t,d}))),Object.assign(this,{method:t,wanted:e,stops:this.stopsOf(t)}),this.radius.max=Math.max(1,this.stops.length-1),
this.radius.disabled=this.stops.length<2,this.radius.value=X(this.stops,e);let r=i.find(l=>l[0]===t)[3],o=this.stops.length<2?"none":`${C(e)}\
 ${r}${e===0?" (= VI)":""}`;this.text.textContent=n?this.stops.length<2?"no radius":`radius ${C(e)}`:o,this.radius.setAttribute("aria-valuet\
ext",o)}},Be=1200,Fe={duration:800,easing:"cubic-in-out"},wt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},J=class{every;next;text;constructor(t,e,{
text:i="Play",every:n=Be}={}){Object.assign(this,{next:t,text:i,every:n,timer:0}),this.button=I(i,e,()=>this.timer?this.halt():this.go(!0))}get glide(){
return this.timer&&!wt.matches?Fe:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.every),this.next(t)?this.button.textContent="Pause":
this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},Rt=900,De=1900,tt=class{constructor(t,e){this.player=
new J(e,"ascend, gradient there, step back, descend",{text:"Play the step",every:De}),this.slider=u("input",{type:"range",class:"fv-phase",min:0,
step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener("input",()=>t(Number(this.slider.value))),this.
node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,this.slider,this.text)}show(t,e){if(this.
node.hidden=!t.length,!t.length)return;let[i,n]=t[e];this.slider.max=t.length-1,this.slider.value=e,this.slider.setAttribute("aria-valuetext",
`${e+1} of ${t.length}: ${i}`),this.text.replaceChildren(u("b",{},i),`: ${n}`)}};function It(s,t){let e=u("div",{}),i=u("details",{class:"fv\
-menu"},u("summary",{},s),e);for(let[n,a]of t){let r=u("button",{type:"button"},n);r.addEventListener("click",()=>{i.open=!1,a()}),e.append(
r)}return i.addEventListener("keydown",n=>{n.key==="Escape"&&(i.open=!1,i.firstChild.focus())}),i.addEventListener("focusout",n=>{n.relatedTarget&&
!i.contains(n.relatedTarget)&&(i.open=!1)}),i}function I(s,t,e){let i=u("button",{type:"button",title:t},s);return i.addEventListener("click",
e),i}var Pe={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"negative\
 log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the share o\
f right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler divergence: ho\
w far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function qt(s){let t=new Set,e=i=>i.
split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((n,a)=>a%2===0||t.has(n)?n:(t.add(n),u("abbr",{title:Pe[n],tabindex:0},n)));return s.split(`
`).filter(Boolean).map(i=>i.startsWith("= ")?u("p",{class:"fv-equation"},Wt(i.slice(2))):u("p",{},...i.split("**").flatMap((n,a)=>a%2?u("b",
{},...e(n)):e(n))))}async function st(s){let t=new Image;return t.src=s,await t.decode(),t}function yt(s,t){let e=u("a",{href:s,download:t});
document.body.append(e),e.click(),e.remove()}var B=s=>s.margin?.t??s.template.layout.margin.t;function Ut({layout:s,data:t},e,i,n){if(!s.yaxis?.scaleanchor||s.xaxis2)return null;let[a,r]=[
"xaxis","yaxis"].map(c=>e[c]??s[c].range),o=t.some(c=>c.colorbar)?130:20,l=a&&r?(a[1]-a[0])/(r[1]-r[0]):1,h=We({data:t,layout:s}).reduce((c,f)=>c+
44+7.2*f.length,0),d=Math.min(i-60-o-(n-B(s)-92)*l,i-60-o-h)/2;return d<8?null:{margin:{...s.margin,t:B(s),l:60+d,r:o+d}}}function Kt(s,t){let e=[
"",2,3,4].filter(o=>s[`xaxis${o}`]),i=e.length>1&&e.every(o=>!s[`yaxis${o}`].domain);if(t>=460||!i)return s;let n=.1,a=(1-n*(e.length-1))/e.
length,r={};return e.forEach((o,l)=>{let h=1-l*(a+n),d=l===e.length-1;r[`xaxis${o}`]={...s[`xaxis${o}`],domain:[0,1],showticklabels:d,title:d?
s[`xaxis${o}`].title:""},r[`yaxis${o}`]={...s[`yaxis${o}`],domain:[Math.max(0,h-a),h],showticklabels:!0,nticks:4,title:l===1?s.yaxis.title:""}}),
{...s,...r,margin:{...s.margin,t:58}}}function We({data:s,layout:t}){return t.showlegend===!1?[]:s.filter(e=>e.mode&&e.name&&e.showlegend!==
!1&&e.visible!==!1).map(e=>e.name)}function Ht({data:s,layout:t},e,i){let n=i-(t.margin?.t??76)-(t.margin?.b??92),a=p=>({...p,title:{...p.title,
font:{...p.title.font,size:Math.max(10,Math.min(15,n/(.54*p.title.text.length)))}}}),r=s.map(p=>p.colorbar?.title?.text?{...p,colorbar:a(p.colorbar)}:
p),{scene:o}=t,l=460/e;for(let p of Object.keys(t).filter(g=>/^[xy]axis\d*$/.test(g))){let g=t[p],[b,m]=g.domain??[0,1],z=p[0]==="y"?n:e-60,
[w]=(g.title?.text??"").split("<br>"),M=z*(m-b)/(.54*w.replace(/<[^>]*>/g,"").length);M<15&&(t={...t,[p]:{...g,title:{...g.title,font:{...g.
title.font,size:Math.max(9,M)}}}})}if(!o?.camera||l<=1)return{data:r,layout:t};let h=Object.fromEntries(Object.entries(o.camera.eye).map(([p,
g])=>[p,g*l**.7])),d=({title:p})=>p.text.replace(/ of [^)]*\)/,")"),c=(p,g)=>({...p,title:{...p.title,text:g,font:{size:10}},tickfont:{size:9}}),
f={xaxis:c(o.xaxis,d(o.xaxis)),yaxis:c(o.yaxis,d(o.yaxis)),zaxis:c(o.zaxis,"")};return{data:r,layout:{...t,scene:{...o,...f,camera:{...o.camera,
eye:h}}}}}function Vt({data:s,layout:t,phases:e},i,n){let a=Math.max(0,B(t)-76)+(t.annotations?.some(o=>o.yref==="paper"&&o.y>=1)?16:0),r=(n?12:36)+Math.
min(34,a)+17*Yt({data:zt(s),layout:t},i).length;return{margin:{...t.margin,...e.length?{t:r,b:8,l:8,r:8}:{t:r,b:48,l:i<240?40:50,r:12}}}}function Yt({
data:s,layout:t},e){if(t.showlegend===!1)return[];let i=[],n=0;for(let{name:a,mode:r,marker:o,line:l,showlegend:h,visible:d}of s){if(!r||!a||
h===!1||d===!1)continue;let c=/markers/.test(r)&&typeof o?.color=="string"?o.color:l?.color??"#1f2933",f=26+6.6*a.length,p=/markers/.test(r)?
/cross/.test(o?.symbol)?"✚":"●":"–";f>n&&(i.push([]),n=e-24),n-=f,i.at(-1).push(`<span style="color:${c}">${p} ${a}</span>`)}return i.
map(a=>a.join("   "))}function Gt(s,t){let e=Yt(s,t),{annotations:i=[],margin:n}=s.layout;if(!e.length)return{};let a={x:0,y:1,xref:"paper",
yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-n.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...i,{...a,text:e.
join("<br>"),font:{size:11}}]}}var Jt=s=>s.type==="scatter"&&/lines/.test(s.mode)&&s.name?.length<11;function zt(s){if(s.some(i=>i.type==="s\
catter"&&i.mode==="markers"&&i.visible!==!1))return s;let t=s.filter(i=>Jt(i)&&i.showlegend!==!1&&i.visible!==!1).length,e=0;return s.map(i=>{
if(!Jt(i)||i.showlegend===!1||i.visible===!1)return i;let n=i.y?.length??atob(i.y?.bdata??"").length/Number(i.y?.dtype?.[1]??8),a=n>2&&n<60?
Math.max(0,n-1-e++*Math.max(1,Math.floor(n/t))):n-1,r=Array.from({length:n},(o,l)=>l===a?i.name:"");return{...i,showlegend:!1,mode:`${i.mode}\
+text`,text:r,textposition:n<60?"top left":"top center",textfont:{size:12,color:i.line?.color},cliponaxis:!1}})}function Xt(s,{phases:t}){return s.
colorbar?t.length?{...s,showscale:!1}:{...s,colorbar:{...s.colorbar,thickness:9,xpad:4,tickfont:{size:10},title:{...s.colorbar.title,font:{size:10.5}}}}:
s}var Zt=({xaxis:s})=>{let[,...t]=(s?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};
function Qt(s,{phases:t},e){let[,...i]=(s.title?.text??"").split("<br>"),n={...s.title,text:e?i.join("<br>"):s.title?.text,font:{...s.title?.
font,size:12}},a=d=>Math.max(...d.split("<br>").map(c=>c.length)),r=s.annotations?.map(d=>({...d,font:{...d.font,size:a(d.text??"")>54?8.5:10}})),
o={...s.legend,font:{...s.legend?.font,size:11}},{xaxis:l}=s,h=l?.title?.text?.split("<br>")[0];if(t.length)for(let d of["xaxis","yaxis"])s=
{...s,[d]:{...s[d],title:{text:""},showticklabels:!1,ticks:"",automargin:!1}};return{...s,title:n,legend:o,...h&&!t.length?{xaxis:{...l,title:{
...l.title,text:h}}}:{},...r?{annotations:r}:{}}}var $t=s=>`${s[0]}axis${s.slice(1)}`;var Re=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,ee=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
se={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},Mt=["contour","heatmap"];function it(s,t){return Array.
isArray(s)&&Array.isArray(t)?s.length===t.length&&s.every((e,i)=>it(e,t[i])):Object.is(s,t)}function te(s,t,e){let i=t.split("."),n=i.pop();
i.reduce((a,r)=>a[r],s)[n]=e}function Ot(s,t,e,i,n){let a=[],r={};for(let[d,c]of e){let[,f,p]=d.match(Re)??[];if(f!==void 0&&Array.isArray(c)&&
Number.isInteger(t._fullData?.[f]?.index))a.push([Number(f),p,c]);else if(ee.test(d))r[d]=c;else return!1}let o=[...new Set(a.map(([d])=>d))].
filter(d=>t._fullData[d].visible===!0);if(!o.every(d=>qe(t,t._fullData[d])))return!1;for(let[d,c,f]of a)te(t.data[d],c,f),o.includes(d)&&te(
t._fullData[d],c,f);if(!o.every(d=>Ue(t,d)))return!1;Ie(s,t,r);let l=new Set(o.map(d=>`${t._fullData[d].type} ${q(t._fullData[d])}`));return new Set(
[...l].map(d=>He(t,n?null:o,...d.split(" "),i))).forEach(d=>d?.style(t)),!0}function Ie(s,t,e){let i={};for(let[n,a]of Object.entries(e)){let[
,r,o,l]=n.match(ee);t.layout[r][o][l]=a,i[`${r}[${o}].opacity`]=t.layout[r][o].opacity??1}Object.keys(i).length&&s.relayout(t,i)}var q=s=>s.
xaxis+s.yaxis;function qe(s,t){let e=s._fullLayout?._plots?.[q(t)],i=se[t.type];if(!e||!i||t.zorder||!s.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:n,plot:a,style:r}=t._module;return[n,a,r].every(o=>typeof o=="function")&&!e.plot.select(`.${i}`).empty()}function Ue(s,t){let e=s.
_fullData[t],{t:i}=s.calcdata[t][0],n=s._fullLayout._plots[q(e)],a=[n.xaxis,n.yaxis].filter(h=>h.autorange),r=()=>Mt.includes(e.type)||a.every(
h=>Ke(s,e,h)),o=r();Mt.includes(e.type)||(e._length=Math.min(e.x.length,e.y.length));let l=e._module.calc(s,e);return l[0].trace=e,l[0].t={...i,
...l[0].t},s.calcdata[t]=l,o&&r()}function Ke(s,t,e){let n=s._fullData.find(d=>Mt.includes(d.type)&&d.visible===!0&&q(d)===q(t))?._extremes?.[e.
_id],a=t._extremes?.[e._id];if(!n?.min?.length||!a)return!1;let r=Math.abs(e.range[1]-e.range[0])/e._length,o=Math.min(...n.min.map(d=>d.val)),
l=Math.max(...n.max.map(d=>d.val)),h=({pad:d,extrapad:c})=>r*(d+(c?e._length/20:0));return a.min.every(d=>d.val-h(d)>=o)&&a.max.every(d=>d.val+
h(d)<=l)}function He(s,t,e,i,n){let a=s._fullLayout._plots[i],r=s.calcdata.filter(([{trace:c}])=>c?.type===e&&c.visible===!0&&c._length!==0&&
q(c)===i),{_module:o}=r[0][0].trace,l=a.plot.select(`.${se[e]}`);if(o.crossTraceCalc?.(s,a),r.forEach(Je),e!=="scatter")return o.plot(s,a,r,
l),o;let d=l.selectAll("g.trace").size()===r.length&&t&&!n&&r.every(([{trace:c}])=>!/^tonext/.test(c.fill)&&!c.stackgroup);return d?r.filter(
([{trace:c}])=>t.includes(c.index)).forEach(c=>o.plot(s,a,[c],l,{duration:0})):o.plot(s,a,r,l,n),a.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),d&&!r.some(([{trace:c}])=>c.error_y?.visible||c.error_x?.visible)?null:o}function Je(s){let{error_y:t}=s[0].trace;t?.visible&&
s.forEach((e,i)=>{let n=e.i??i,a=t.array[n],r=(t.symmetric?t.array:t.arrayminus)[n];Number.isFinite(e.y)&&Number.isFinite(a)&&Number.isFinite(
r)&&Object.assign(e,{yh:e.y+a,ys:e.y-r})})}function Lt(s){for(let{plot:t}of Object.values(s._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Ve=matchMedia("(pointer: coarse)"),U=class{entry;tools;state;scene;revision;member;constructor(t,e,i){Object.assign(this,{entry:t,tools:i,
state:"",width:0,revision:0,glides:0}),this.mark=u("span",{class:"fv-letter",hidden:""},e),this.plot=u("div",{role:"group"}),this.node=u("di\
v",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,e,{height:i,most:n=1/0,width:a=this.plot.clientWidth,dark:r,phone:o=!1,ranges:l,
transition:h,at:d=0}){let{entry:c,plot:f,tools:p}=this,{index:g,Plotly:b}=p,m=a<460&&Vt(c,a,o);if(this.narrow=!!m&&o,c.layout.yaxis?.scaleanchor&&
!c.layout.xaxis2){let{t:v,b:k,l:P,r:_}=m?.margin??{},W=m?v+k+a-P-_-(c.phases.length?0:66):B(c.layout)+a-100;i=Math.round(m?Math.min(W,Math.max(
n,v+k+85)):Math.max(300,Math.min(i,W)))}if(c.layout.yaxis?.scaleanchor&&c.layout.xaxis2&&!m){let v=Object.keys(c.layout).filter(k=>/^xaxis\d*$/.
test(k)).length;i=Math.round(Math.max(300,Math.min(i,B(c.layout)+(a-160)/v+70)))}m&&c.phases.length&&(l=this.low(l,(i-m.margin.t-m.margin.b)/
(a-m.margin.l-m.margin.r),e));let z=m||Ut(c,l,a,i),w=c.binds.some(v=>v.rows!=="all"&&v.rows!=="phase"),M=[z&&a,r,i,JSON.stringify(l)].join("\
/"),O=[M,t.meta.method,t.meta.radius,t.version??0,w?e:""].join("/"),L=`${O}/${d}`;if(this.state===L)return this.resize(a),!1;let x=!this.state,
y=c.binds.map(v=>gt(v,g.fields,t,e,d));if(this.place===O&&!wt.matches)return this.slide(y,{state:L,at:d,dark:r}),!1;this.place=O,c.phases.length&&
(f.dataset.phase=d);let E=x||this.scene!==M?null:c.binds.flatMap(({path:v},k)=>it(y[k],this.values[k])?[]:[[v,r?T(y[k]):y[k]]]);Object.assign(
this,{state:L,scene:M,member:t,values:y});let A=performance.now()<this.glides;if(A&&Lt(f),this.glides=h?performance.now()+h.duration+100:0,E&&
Ot(b,f,E,h,A))return this.resize(a),this.spread(),!0;let $={data:c.data,layout:{...c.layout,height:i,uirevision:"kept",datarevision:++this.revision}};
c.binds.forEach((v,k)=>{$=G($,v.path.split("."),y[k])});for(let[v,k]of Object.entries(l))$=G($,["layout",v,"range"],k);return z&&($.layout={
...$.layout,margin:z.margin}),$.layout=Kt($.layout,a),$=Ht($,a,i),m&&($.data=zt($.data).map(v=>Xt(v,c))),this.print=m?Zt($.layout):"",m&&($.
layout=Qt({...$.layout,...Gt($,a)},c,o)),Ve.matches&&($.layout.dragmode=!1),r?$={data:T($.data),layout:T($.layout)}:$={data:$.data.map(v=>({
...v})),layout:$.layout},this.width=a,f.style.height=`${i}px`,b.react(f,$.data,$.layout,g.config),x?this.listen():f._fullLayout.width!==a&&b.
Plots.resize(f),this.spread(),!0}low(t,e,i){let{entry:n,tools:a}=this,[r,o]=["xaxis","yaxis"].map(c=>t[c]??n.layout[c].range),l=(o[0]+o[1])/
2,h=n.binds.filter(({path:c})=>c.endsWith(".y")),d=e*(r[1]-r[0])/2;for(let c of h)for(let f of a.members)for(let p of n.phases.keys())for(let g of gt(
c,a.index.fields,f,i,p))d=Math.max(d,1.06*Math.abs(g-l)||0);return d<o[1]-l?{...t,yaxis:[l-d,l+d]}:t}slide(t,{state:e,at:i,dark:n}){let{entry:a,
plot:r,tools:o}=this,l=this.values,h=performance.now(),d=h<this.glides;d&&Lt(r),Object.assign(this,{state:e,glides:0}),delete r.dataset.phase;
let c=()=>{if(this.state!==e)return;let f=Math.min(1,(performance.now()-h)/Rt),p=f*f*(3-2*f),g=t.map((z,w)=>a.binds[w].rows==="phase"?xt(l[w],
z,p):z),b=a.binds.flatMap(({path:z},w)=>it(g[w],this.values[w])?[]:[[z,n?T(g[w]):g[w]]]);this.values=g;let m=r.clientWidth&&Ot(o.Plotly,r,b,
void 0,d);d=!1,m?f<1?requestAnimationFrame(c):(r.dataset.phase=i,this.spread()):(this.renew(),o.redraw())};requestAnimationFrame(c)}spread(){
if(!this.entry.phases.length)return;let{left:t,right:e,top:i,bottom:n}=this.plot.querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.
getBoundingClientRect()??{},a=[];for(let r of this.plot.querySelectorAll(".scatterlayer .textpoint")){r.style.transform="";let o=r.getBoundingClientRect();
if(!o.width)continue;let l=([c,f])=>({left:o.left+c,right:o.right+c,top:o.top+f,bottom:o.bottom+f}),h=c=>{let f=l(c);return f.left>t&&f.right<
e&&f.top>i&&f.bottom<n&&a.every(p=>f.right<p.left||f.left>p.right||f.bottom<p.top+3||f.top>p.bottom-3)},d=[0,14,26,40].flatMap(c=>[[0,-c],[0,
c],[c,0],[-c,0],[c,-c],[-c,-c],[c,c],[-c,c]]).find(h);r.style.visibility=d?"":"hidden",d&&(r.style.transform=`translate(${d[0]}px, ${d[1]}px\
)`,a.push(l(d)))}}renew(){this.state&&Object.assign(this,{state:"elsewhere",scene:"",place:""})}describe(t){this.plot.setAttribute("aria-lab\
el",t)}resize(t=this.plot.clientWidth){let e=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(e-t)<2||(this.width=t,
this.tools.Plotly.Plots.resize(this.plot))}listen(){let t=i=>this.drawOf(i.points?.[0]),e=i=>n=>{let a=t(n);a!==null&&this.tools.point(i,a)};
this.plot.on("plotly_hover",e("hover")),this.plot.on("plotly_click",e("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),
this.plot.on("plotly_relayout",()=>this.tools.replace(this))}drawOf(t){if(!t)return null;let{link:e}=this.entry,i=e[t.data.name];return i===
"draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/this.perDraw(t.data)):e.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.
max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){this.rings.forEach(o=>o.remove()),this.rings=[];let e=this.plot._fullLayout;
if(t===null||!this.state||!e)return;let i=(o,l)=>{let h=u("div",{class:o,style:Object.entries(l).map(([d,c])=>`${d}:${c.toFixed(1)}px`).join(
";")});this.rings.push(h),this.node.append(h)},{link:n}=this.entry,a=this.plot.offsetTop,r=this.plot.offsetLeft;for(let o of this.plot._fullData){
let l=n[o.name],h=e[$t(o.xaxis??"x")],d=e[$t(o.yaxis??"y")];if(!l||!h?.d2p||!o.x)continue;let c=l==="draws"?1:this.perDraw(o);for(let f=t*c;f<
(t+1)*c&&f<o.x.length;f++){let p={left:r+h._offset+h.d2p(o.x[f]),top:a+d._offset+d.d2p(o.y[f])};Number.isFinite(p.left)&&Number.isFinite(p.top)&&
i("fv-ring",p)}}if(n.x==="sizes"&&e.xaxis?.d2p){let{t:o,h:l}=e._size;i("fv-rule",{left:r+e.xaxis._offset+e.xaxis.d2p(t+1),top:a+o,height:l})}}image(t,e=1){
let{width:i,height:n}=this.plot._fullLayout;return this.tools.Plotly.toImage(this.plot,{format:t,width:i,height:n,scale:e})}};var Ye=255,Ge=254;function jt(s){if(!s.images){let{pool:t,labels:e,shown:i,nats:n,n_draws:a,classes:r,probs:o}=s.meta.images,l=K(o);s.images=
{classes:r,kept:h=>Math.min(h,a),prob(h,d,c){let f=l[(h*t.length+d)*r.length+c];return f===Ye?NaN:f/Ge},of:h=>i[h-1].map((d,c)=>({place:d,row:t[d],
label:e[d],nats:n[h-1][c]}))}}return s.images}var Et=new WeakMap;function ie(s,...t){for(let e of t){let i=e?.rows?.indexOf(s)??-1;if(i<0)continue;
Et.has(e)||Et.set(e,{bytes:K(e.pixels),urls:new Map});let{bytes:n,urls:a}=Et.get(e),[r,o,l=1]=e.shape;if(!a.has(s)){let h=u("canvas",{width:o,
height:r}),d=h.getContext("2d"),c=d.createImageData(o,r);for(let f=0;f<r*o;f++){for(let p=0;p<3;p++)c.data[4*f+p]=n[i*r*o*l+f*l+(l>1?p:0)];c.
data[4*f+3]=255}d.putImageData(c,0,0),a.set(s,h.toDataURL())}return a.get(s)}return""}function j(s,t={},...e){let i=document.createElementNS(
"http://www.w3.org/2000/svg",s);for(let[n,a]of Object.entries(t))i.setAttribute(n,a);return i.append(...e),i}var nt=12,V=(s,t)=>s.length>t?`${s.
slice(0,Math.max(1,t-1))}…`:s,ne=s=>`${(100*s).toFixed(0)} %`;function ae(s,t,{left:e,top:i,width:n,height:a,turned:r,foot:o}){let{now:l,n:h,ink:d,lit:c}=s,{classes:f}=t,p=t.kept(h),g=n/f.length,b=x=>e+
(x+.5)*g,m=x=>i+(1-x)*a;s.chart={x:b,y:m,step:g,items:t};let z=j("g",{"data-chart":l.row}),w=(x,y)=>z.append(j("text",y,x));z.append(j("rect",
{x:e,y:i,width:n,height:a,fill:"transparent"}));for(let x of[0,.25,.5,.75,1])z.append(j("line",{x1:e,x2:e+n,y1:m(x),y2:m(x),stroke:d.line})),
w(x,{x:e-6,y:m(x)+4,"text-anchor":"end",fill:d.soft});let{color:M}=s.member.meta.images;f.forEach((x,y)=>{let E=Array.from({length:p},($,v)=>t.
prob(v,l.place,y)).reduce(($,v)=>$+v,0)/p;Number.isFinite(E)&&z.append(j("rect",{class:"fv-mean",x:b(y)-.36*g,y:m(E),width:.72*g,height:E*a,
fill:M,"fill-opacity":s.dark?.6:.35}));let A={x:b(y),y:i+a+16,"text-anchor":r?"end":"middle","font-weight":y===l.label?700:400};w(V(x,nt),r?
{...A,transform:`rotate(-40 ${b(y)} ${i+a+16})`}:A)});let O=x=>f.map((y,E)=>[b(E),m(t.prob(x,l.place,E))]).filter(([,y])=>Number.isFinite(y)).
map(y=>y.map(E=>E.toFixed(2)).join(",")).join(" "),L=(x,y)=>z.append(j("polyline",{"data-draw":x,points:O(x),fill:"none","stroke-linejoin":"\
round",...y}));for(let x=0;x<p;x++)L(x,{stroke:s.dark?d.ink:M,"stroke-width":1.2,"stroke-opacity":.55});return c!==null&&c<p&&L(c,{stroke:d.
mark,"stroke-width":3.5}),w(`Test image ${l.row}, label ${f[l.label]}`,{x:e-30,y:i-36,"font-size":15}),w(p===1?"one draw: its probabilities":
`bars: mean of ${p} draws; lines: single draws${c!==null&&c<p?`; thick: draw ${c+1}`:""}`,{x:e-30,y:i-16,fill:d.soft}),w("class (bold: the l\
abel)",{x:e+n/2,y:i+a+o,"text-anchor":"middle",fill:d.soft}),z}var at=class extends U{chosen;n;height;dark;chart;constructor(t,e,i){super(t,e,i),this.lit=this.pointed=null;let n=r=>r.target.closest?.("[d\
ata-row]"),a=r=>r.target.closest?.("[data-chart]");this.plot.addEventListener("pointermove",r=>{let o=n(r);o?this.show(Number(o.dataset.row)):
a(r)&&this.point("hover",r)}),this.plot.addEventListener("pointerleave",()=>{this.show(null),this.tools.point("hover",null)}),this.plot.addEventListener(
"click",r=>{let o=n(r);o?this.tools.choose("image",o.dataset.row):a(r)&&this.point("click",r)}),this.plot.addEventListener("keydown",r=>{let o=n(
r);o&&(r.key==="Enter"||r.key===" ")&&(r.preventDefault(),this.tools.choose("image",o.dataset.row))}),this.plot.addEventListener("focusin",r=>{
let o=n(r);o&&!this.painting&&this.show(Number(o.dataset.row))})}draw(t,e,{height:i,width:n=this.plot.clientWidth,dark:a}){let{tools:r}=this,
o=r.chosen().image??"",l=[n,t.meta.method,t.meta.radius,t.version??0,e,a,i,o].join("/");return this.state===l?!1:(o!==this.chosen&&(this.pointed=
null),Object.assign(this,{state:l,member:t,n:e,height:i,dark:a,chosen:o,width:n}),this.paint(),!0)}resize(){!this.state||!this.plot.clientWidth||
this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,this.paint())}light(t){this.lit===t||!this.state||(this.lit=t,this.paint())}show(t){
this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,e){let{left:i,top:n}=this.plot.firstChild.getBoundingClientRect(),
{x:a,y:r,step:o,items:l}=this.chart,h=Math.max(0,Math.min(l.classes.length-1,Math.floor((e.clientX-i-a(0)+o/2)/o))),d=f=>{let p=l.prob(f,this.
now.place,h);return Number.isFinite(p)?Math.abs(r(p)-(e.clientY-n)):1/0},c=Array.from({length:l.kept(this.n)},(f,p)=>p).reduce((f,p)=>d(p)<d(
f)?p:f,0);d(c)<14?this.tools.point(t,c):t==="hover"&&this.tools.point("hover",null)}paint(){let{plot:t,member:e,n:i,width:n,height:a,dark:r}=this;
if(!n)return;let o=jt(e),l=o.of(i),h=n>=620;this.ink=r?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"#ff9d5c"}:{ink:"#1\
f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"};let d=[this.pointed,Number(this.chosen||NaN)].find(x=>l.some(y=>y.row===
x))??l[0].row;this.now=l.find(x=>x.row===d);let c=document.activeElement,f=t.contains(c)?c.dataset.row:null,p=j("svg",{width:n,height:a,viewBox:`\
0 0 ${n} ${a}`,"font-size":12,"font-family":"system-ui, sans-serif",fill:this.ink.ink});p.append(j("rect",{width:n,height:a,fill:this.ink.paper}));
let g=h?{left:8,top:34,width:.52*n-16,height:a-40}:{left:6,top:30,width:n-12,height:.54*a-30},b=h?.48*n-62:n-52,m=Math.min(nt,Math.max(...o.
classes.map(x=>x.length))),z=b/o.classes.length<7*m,w=z?34+4.3*m:36,M=h?{left:.52*n+46,top:58,width:b,height:a-82-w,turned:z,foot:w}:{left:40,
top:.54*a+50,width:b,height:.46*a-60-w,turned:z,foot:w},O=(x,y,E,A=15)=>p.append(j("text",{x:y,y:E,"font-size":A},x)),L=o.kept(i)===1?"it is\
 least sure":"the draws disagree most";O(h&&o.kept(i)>1?`Images on which ${L}`:`Where ${L}`,g.left+(this.mark.hidden?4:18),22),l.forEach((x,y)=>p.
append(this.tile(o,x,y,l.length,g))),p.append(ae(this,o,M)),t.style.height=`${a}px`,t.replaceChildren(p),this.painting=!0,f&&t.querySelector(
`[data-row="${f}"]`)?.focus(),this.painting=!1,this.drawn={rows:l.map(x=>x.row),row:d},this.name()}describe(t){this.words=t,this.name()}name(){
if(!this.now||!this.words)return;let{classes:t,of:e}=jt(this.member),i=e(this.n).map(n=>t[n.label]).join(", ");this.plot.setAttribute("aria-\
label",`${this.words} Labels of the images: ${i}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{place:e,row:i,
label:n,nats:a},r,o,{left:l,top:h,width:d,height:c}){let p=Math.ceil(o/4),g=d/4,b=Math.min(g-10,c/p-48),m=b+48,z=l+r%4*g+(g-b)/2,w=h+Math.floor(
r/4)*m,{member:M,tools:O,lit:L,n:x,ink:y}=this,E=t.kept(x),{classes:A}=t,$=new Map;for(let S=0;S<E;S++){let R=this.best(t,S,e);$.set(R,($.get(
R)??0)+1)}let v=[...$].sort((S,R)=>R[1]-S[1]),k=L!==null&&L<E?this.best(t,L,e):null,P=k===null?v.map(([S,R])=>`${A[S]??"none"}${E>1?`×${R}`:
""}`).join(" "):`${g>110?`draw ${L+1}: `:""}${A[k]??"none"}, ${ne(t.prob(L,e,k))}`,_=Math.floor((g-8)/6.9),W=V(P,_),Y=a.toFixed(2),we=[`${A[n]}\
 · ${Y} nats`,`${A[n]} · ${Y}`].find(S=>S.length<=_)??`${V(A[n],_-Y.length-3)} · ${Y}`,Tt=`test image ${i}, label ${A[n]}, disagreement ${a.
toFixed(2)} nats; answers ${P}`,ye=j("image",{x:z,y:w,width:b,height:b,href:ie(i,M.meta.images,O.index.images),style:"image-rendering:pixela\
ted"}),ke={x:z-1,y:w-1,width:b+2,height:b+2,fill:"none"},mt=this.now.row===i,ze=k!==null&&k!==n;return j("g",{"data-row":i,role:"button",tabindex:0,
"aria-label":Tt,"aria-pressed":mt,style:"cursor:pointer"},j("title",{},Tt),ye,j("rect",{...ke,stroke:mt?y.mark:y.line,"stroke-width":mt?3:1}),
j("text",{x:z+b/2,y:w+b+16,"text-anchor":"middle"},we),j("text",{x:z+b/2,y:w+b+32,"text-anchor":"middle","font-size":11.5,class:"fv-said","f\
ont-weight":k===null?400:600,fill:k===null?y.soft:ze?y.mark:y.ink},W))}best(t,e,i){let n=NaN,a=-1;return t.classes.forEach((r,o)=>{let l=t.prob(
e,i,o);l>a&&([n,a]=[o,l])}),n}async image(t,e=1){let{width:i,height:n}=this,a=this.plot.firstChild.cloneNode(!0);a.setAttribute("xmlns","htt\
p://www.w3.org/2000/svg");let r=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(a))}`;if(t==="svg")return r;let o=await st(
r),l=u("canvas",{width:i*e,height:n*e});return l.getContext("2d").drawImage(o,0,0,l.width,l.height),l.toDataURL("image/png")}};var At={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},ot=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:e,
members:i},n,a){Object.assign(this,{model:t,most:e,methods:i.map(r=>r.method),changed:n,acted:a,past:[],last:"",when:0}),this.start=this.all}get all(){
let{model:t}=this,e=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:e,...At,...t.
get("look")??{}}}change(t){let e=Object.keys(t).join(),i=Date.now();(e!==this.last||i-this.when>700)&&this.past.push(this.all),this.past.length>
100&&this.past.shift(),Object.assign(this,{last:e,when:i}),this.acted(t),this.put({...this.all,...t})}put({method:t,radius:e,n_draws:i,...n}){
let a=Object.fromEntries(Object.keys(At).map(r=>[r,n[r]??At[r]]));for(let[r,o]of Object.entries({method:t,radius:e,n_draws:i,look:a}))this.model.
set(r,o);this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put({...this.past.pop(),
step:this.all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:e,n_draws:i,tab:n,compare:a,
picked:r,chosen:o,step:l,phase:h}=this.all,d=new URLSearchParams({method:t,radius:e,draws:i});n&&d.set("tab",n),a&&d.set("b",`${a.radius}:${a.
method}`),r!==null&&d.set("draw",r+1),l!==this.start.step&&d.set("step",l+1),h!==null&&d.set("phase",h+1);for(let[c,f]of Object.entries(o))d.
set(`see.${c}`,f);return`#${d}`}read(t){let e=new URLSearchParams(t.replace(/^#/,"")),i={},n=(l,h)=>{let d=e.has(l)?Number(e.get(l)):NaN;return d>=
h&&Number.isFinite(d)?d:null};this.methods.includes(e.get("method"))&&(i.method=e.get("method")),n("radius",0)!==null&&(i.radius=n("radius",
0)),n("draws",1)!==null&&(i.n_draws=Math.round(n("draws",1))),e.has("tab")&&(i.tab=e.get("tab")),n("draw",1)!==null&&(i.picked=Math.round(n(
"draw",1))-1),n("step",0)!==null&&(i.step=Math.round(n("step",1))-1),n("phase",1)!==null&&(i.phase=Math.round(n("phase",1))-1);let[,a,r]=e.get(
"b")?.match(/^([\d.e+-]+):(.*)$/s)??[];r!==void 0&&Number.isFinite(Number(a))&&(i.compare={method:r,radius:Number(a)});let o=[...e].filter(([
l])=>l.startsWith("see.")).map(([l,h])=>[l.slice(4),h]);o.length&&(i.chosen=Object.fromEntries(o)),Object.keys(i).length&&this.put({...this.
start,...i})}};var rt=class{page;story;constructor(t,e){Object.assign(this,{story:t,page:e,explored:null,rest:0}),this.sections=t.map(i=>u("section",{},u("\
h2",{},i.title),...qt(i.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:e}=this,i=e+.45*(window.innerHeight-e),n=Math.
max(0,t.findLastIndex(a=>a.getBoundingClientRect().top<i));return n<t.length-1?n:-1}follow(){let{page:{state:t,resting:e},story:i}=this,n=this.
inSight(),a=t.all;if(e()||n===a.step)return;a.step<0&&(this.explored=a);let{method:r,radius:o,n_draws:l}=t.start;t.acted({step:n}),t.put(n<0&&
this.explored||{method:r,radius:o,n_draws:l,...i.at(n).set,step:n})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Xe=40,Ze=450;async function _t(s,t){for(let[e,i,n]of s){let{method:a,radius:r}=n.member.meta;yt(await n.image(t,t==="png"?2:1),["flatviz",
i.name,a,r||"",e==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function oe({el:s,state:t,member:e,radii:i,shown:n}){let a=t.all,{method:r,
label:o}=e.meta,l=[];for(let O of i){for(t.put({...a,radius:O});s.dataset.state!==`${r}/${O}/${a.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:O,images:await Promise.all(n().map(async([,,L])=>st(await L.image("png"))))})}t.put(a);let h=Math.max(...l.map(({images:O})=>O.
reduce((L,x)=>L+x.width,0))),d=Math.max(...l.flatMap(({images:O})=>O.map(L=>L.height))),c=u("canvas",{width:h+h%2,height:d+Xe+d%2}),f=c.getContext(
"2d"),{color:p,backgroundColor:g,fontFamily:b}=getComputedStyle(s),m=[],z=["video/mp4","video/webm"].find(O=>MediaRecorder.isTypeSupported(O)),
w=new MediaRecorder(c.captureStream(),{mimeType:z,videoBitsPerSecond:4e6}),M=new Promise(O=>{w.addEventListener("stop",O)});w.addEventListener(
"dataavailable",({data:O})=>m.push(O)),w.start();for(let{radius:O,images:L}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(f,{fillStyle:g,
font:`600 18px ${b}`}),f.fillRect(0,0,c.width,c.height),L.reduce((x,y)=>(f.drawImage(y,x,0),x+y.width),0),f.fillStyle=p,f.fillText(`${o}, ra\
dius ${O}`,14,c.height-14),await new Promise(x=>{setTimeout(x,Ze)});w.stop(),await M,yt(URL.createObjectURL(new Blob(m,{type:z})),`flatviz-${r}\
-radius.${z.slice(6)}`)}function re(s,t,{n_draws:e,phase:i}){let n=s.filter(([,a])=>a.kind==="plotly").map(([,a,{member:{meta:r}}])=>{let l=a.
phases.length&&i!==null?`, phase=${JSON.stringify(t.phases[Math.min(i,t.phases.length-1)])}`:"";return`fv.widgets.plot_view(family, ${JSON.stringify(
a.name)}, method=${JSON.stringify(r.method)}, radius=${r.radius}, n_draws=${e}${l})`});return["import flatviz as fv","",...t.code??[],...n].
join(`
`)}var lt=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,e){
let{node:i}=this;i.hidden=!1,i.value=t,i.select(),navigator.clipboard?.writeText(t).then(()=>i.setAttribute("aria-label",`${e}, copied`),()=>{});
let n=a=>{a.target!==i&&(i.hidden=!0,document.removeEventListener("pointerdown",n))};document.addEventListener("pointerdown",n)}};function le(s){s.dataset.lmSuppressShortcuts="true";let t=e=>{!e.ctrlKey&&!e.metaKey&&!e.altKey&&!(e.shiftKey&&e.key==="Enter")&&e.stopPropagation()};
return s.addEventListener("keydown",t),()=>s.removeEventListener("keydown",t)}var de=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
.flatviz .fv-article section:last-child { padding-bottom: 12px; }
.flatviz .fv-article h2 { margin: 0 0 8px; font-size: 22px; line-height: 1.25; color: inherit; }
.flatviz .fv-article p { margin: 0 0 12px; max-width: 66ch; }
.flatviz .fv-article .fv-equation { text-align: center; padding: 10px 0; overflow-x: auto; overflow-y: hidden; }
.flatviz .fv-equation math { font-size: 19px; font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, Georgia, serif; }
.flatviz .fv-stage { min-width: 0; background: var(--paper); grid-row: 2; grid-column: 1 / -1; }
.flatviz.fv-beside.fv-story .fv-body { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); column-gap: 36px; }
.flatviz.fv-reads .fv-body { padding-bottom: 60vh; }  /* where the stage will stand */
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
.flatviz.fv-above .fv-article section:not(:last-child) { min-height: 36svh; padding-bottom: 40px; } .flatviz.fv-above .fv-article section:la\
st-child { scroll-margin-top: 12px; }
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
`;function ce(s){let{state:t,index:e,members:i,hash:n,ask:a}=s;s.a=new H("",r=>t.change(r)),s.b=new H("B",r=>t.change({compare:{method:s.b.method,
radius:s.b.wanted,...r}})),s.draws=u("input",{type:"range",class:"fv-draws",min:1,max:e.n_max,step:1,"aria-label":"ensemble size"}),s.drawsText=
u("output"),s.draws.addEventListener("input",()=>t.change({n_draws:Number(s.draws.value)})),s.compare=I("Compare","two states side by side, \
on the same scales",()=>{let r=s.current(),o=i.methods.find(l=>l==="vi"&&l!==r.a.method)??r.a.method;t.change({compare:r.b?null:{method:o,radius:i.
stops(o)[0]}})}),s.player=new J(r=>ts(s,r),"go through the fitted radii of page method"),s.undo=I("Undo","take the last change back",()=>t.undo()),
s.copied=new lt,s.more=It("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>s.copied.take(re(s.shown(),e,t.all),"code")],...n?[["Copy link",
()=>s.copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>_t(s.shown(),"svg")],["Save as PNG",()=>_t(s.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:r}=s.current().a;oe({el:s.el,state:t,member:r,radii:i.fitted(r.
meta.method),shown:()=>s.shown()})}]]:[]]),s.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),s.said=u("span",
{role:"status"}),s.button=I("Stop","stop or start fitting",()=>a?.(s.button.textContent==="Stop"?"stop":"run")),s.bands=I("Bands over seeds",
"fit every member again with two more seeds, behind the picture",()=>a?.("seeds")),s.bands.hidden=e.seeds!==1,s.work=u("div",{class:"fv-work"},
s.button,s.bar,s.said,s.bands),s.work.hidden=!i.live,s.note=u("div",{class:"fv-note",role:"alert",hidden:""})}function ts(s,t){let{a:{method:e,
member:i}}=s.current(),{radius:n}=i.meta,a=s.members.fitted(e),r=a.find(o=>o>n)??(t?a[0]:void 0);return r===void 0||a.length<2?!1:(t&&s.state.
past.push(s.state.all),s.state.put({...s.state.all,radius:r}),!0)}function he(s){let{el:t,index:e,state:i}=s,n=[...new Set(e.figures.map(o=>o.
group))];s.controls=u("div",{class:"fv-controls",role:"group","aria-label":"controls"},s.a.node,u("label",{},u("span",{},"ensemble size"),s.
draws,s.drawsText),s.b.node);let a=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},s.player.button,s.compare,s.undo,s.more);
s.reading=u("p",{class:"fv-reading"}),s.readingB=u("p",{class:"fv-reading",hidden:""}),s.spoken=u("div",{"aria-live":"polite"},s.reading,s.readingB),
s.names=n.length>1?[...n,"All"]:n;let r=`fv-panel-${Math.random().toString(36).slice(2)}`;s.tabs=es(s,r),s.grid=u("div",{class:"fv-figures",
role:"tabpanel",id:r,"aria-label":"pictures",tabindex:0}),s.head=u("div",{class:"fv-bar"},s.controls,s.work,s.note,s.spoken,u("div",{class:"\
fv-strip"},s.tabs,a)),s.stage=u("div",{class:"fv-stage"},s.head,s.copied.node,s.grid),s.article=new rt(e.story??[],{el:t,stage:s.stage,state:i,
resting:()=>s.stopped||s.printing||!s.placed}),t.classList.add("flatviz"),le(t),t.replaceChildren(u("style",{},de),u("div",{class:"fv-body"},
s.article.node,s.stage))}function es(s,t){let{names:e,state:i}=s,n=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"});return s.tabButtons=
e.map(a=>{let r=u("button",{type:"button",role:"tab","aria-controls":t},a);return r.addEventListener("click",()=>i.change({tab:a})),r}),n.append(
...s.tabButtons),n.addEventListener("keydown",a=>{let r={ArrowRight:1,ArrowLeft:-1}[a.key];if(!r)return;let o=(e.indexOf(s.layout.tabOf(i.all))+
r+e.length)%e.length;i.change({tab:e[o]}),s.tabButtons[o].focus()}),n.hidden=e.length<2,n}function dt(s,t){let{a:e,b:i,n_draws:n}=t,{members:a,
draws:r,drawsText:o,layout:l}=s,{offered:h}=a,{narrow:d}=l;s.a.show(e.method,t.radius,h,d),s.a.letter.textContent=i?"A":"",s.b.node.hidden=!i,
i&&s.b.show(i.method,t.compare.radius,h,d),r.value=n,r.disabled=[e,i].every(b=>!b||b.member.meta.n_draws===1),o.textContent=r.disabled?"one \
point":et(n,"draw"),r.setAttribute("aria-valuetext",o.textContent),s.compare.setAttribute("aria-pressed",!!i),s.compare.textContent=i?"One s\
tate":"Compare",s.undo.disabled=!s.state.past.length,s.player.button.disabled=a.of(e.method).length<2;let c=s.hovered??t.picked,f=d&&l.reads(
t),p=(b,m)=>[(i?`${m}: `:"")+(f?a.numbers(b,n):a.sentence(b,n)),u("span",{class:"fv-draw"},c===null?"":a.aboutDraw(b,c))];s.reading.replaceChildren(
...p(e,"A")),s.readingB.hidden=!i,i&&s.readingB.replaceChildren(...p(i,"B"));let g=l.tabOf(t);s.el.classList.toggle("fv-drawn",s.frames.some(
b=>l.inTab(b,g)&&Object.keys(b.entry(t.chosen).link).length>0)),s.tabButtons.forEach((b,m)=>{b.setAttribute("aria-selected",s.names[m]===g),
b.tabIndex=s.names[m]===g?0:-1})}function ct(s,{phases:t},{phase:e}){return t.length&&Math.min(e??t.length,t.length-1)}function ht(s){let{layout:t,el:e}=s,i=s.current();t.arrange(
i),dt(s,i),!s.placed&&!s.stopped&&(s.placed=!0,s.article.goTo());let n=Z()&&!s.printing;e.dataset.theme=n?"dark":"light",s.pending=s.frames.
filter(r=>!r.node.hidden).flatMap(r=>ss(s,r,i));for(let r of s.pending)r.height=t.height(i,r.frame),r.most=s.printing?1/0:t.reads(i)||i.b&&e.
clientWidth<640?r.height:t.screen-t.tall(s.head,i)-8,r.picture.state&&(r.width=r.picture.plot.clientWidth);let a=({frame:r})=>{let{top:o,bottom:l}=r.
node.getBoundingClientRect();return l<0||o>window.innerHeight};t.tabOf(i)==="All"&&s.pending.sort((r,o)=>Number(a(r))-Number(a(o))),fe(s,i,n)}
function ss(s,t,e){let i=t.entry(e.chosen),n=i.kind==="plotly"&&!i.binds.length,a=e.b&&!n?{A:e.a,B:e.b}:{A:e.a};if(t.shown!==`${i.name}/${Object.
keys(a)}`){t.shown=`${i.name}/${Object.keys(a)}`,t.node.dataset.name=i.name;for(let[l,h]of Object.entries(i.option))t.menus[l].value=h;let o=Object.
keys(a).map(l=>t.made[i.name+l]??=new(i.kind==="images"?at:U)(i,l,s.tools));t.pair.replaceChildren(...o.map(l=>l.node))}let r=e.a.member.meta.
captions?.[i.name]??i.caption;return t.caption.textContent!==r&&(t.caption.textContent=r),t.phases?.show(i.phases,ct(s,i,e)),Object.entries(
a).flatMap(([o,{member:l}])=>{let h=t.made[i.name+o],d=!!l.meta.waiting?.includes(i.name);return h.node.classList.toggle("fv-waits",d),d?[]:
(h.mark.hidden=!e.b||n,[{frame:t,picture:h,member:l,entry:i,height:0,most:0,width:void 0}])})}function fe(s,t,e){let{members:i,pending:n,el:a}=s,
r=performance.now()+(s.printing?1e9:30);for(;n.length;){let{frame:o,picture:l,member:h,entry:d,height:c,most:f,width:p}=n.shift(),g=ct(s,d,t);
l.draw(h,t.n_draws,{height:c,most:f,width:p,dark:e,phone:s.layout.narrow,ranges:i.ranges(d),transition:s.player.glide,at:g})&&l.light(s.hovered??
t.picked);let[b]=(d.layout.title?.text??"").split("<br>");o.about.firstChild.textContent=l.narrow&&b?`${b}: what is page?`:"What is page?",l.
print&&!o.caption.textContent.endsWith(l.print)&&o.caption.append(l.print);let m=d.phases[g]?.[0];if(l.describe(`${h.meta.alts[d.name]}${m?`\
; ${m}`:""}. ${i.sentence({member:h,wanted:h.meta.radius,method:h.meta.method},t.n_draws)}`),performance.now()>r&&n.length){requestAnimationFrame(
()=>{s.pending===n&&!s.stopped&&fe(s,t,e)});return}}if(a.dataset.state=`${t.a.method}/${t.a.member.meta.radius}/${t.n_draws}`,a.dataset.shown=
t.a.member.meta.note?"preview":"fitted",a.dataset.look=`${s.layout.tabOf(t)}${t.b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,s.hash&&
!s.stale){let o=location.hash;s.later("address",()=>{location.hash===o&&history.replaceState(null,"",s.state.hash)},100)}s.stale&&performance.
mark("flatviz-drawn"),s.stale=!1,i.live&&s.later("shot",()=>s.photograph(),1500)}function ue(s){let{el:t,state:e,model:i,article:n}=s,a=[],r=0,o=(d,c,f,p)=>{d.addEventListener(c,f,p),a.push(()=>d.removeEventListener(c,f))},
l=["radius","n_draws","method","look"].map(d=>`change:${d}`);for(let d of l)i.on(d,s.schedule);let h=new ResizeObserver(()=>{s.stopped||!t.clientWidth||
(t.clientWidth!==r&&(r=t.clientWidth,s.placed=!1,s.layout.arrange(s.current()),s.schedule()),s.pictures.forEach(d=>d.resize()),s.mark())});[
t,s.grid].forEach(d=>h.observe(d)),a.push(Q(s.schedule),()=>h.disconnect(),()=>l.forEach(d=>i.off?.(d,s.schedule))),o(window,"beforeprint",()=>pe(
s,!0)),o(window,"afterprint",()=>pe(s,!1)),o(window,"resize",s.schedule),n.story.length&&o(window,"scroll",n.scrolled,{passive:!0}),s.hash&&
(o(window,"hashchange",()=>{location.hash!==e.hash&&(e.read(location.hash),s.placed=!1)}),location.hash.length>1&&e.read(location.hash)),s.forget=
()=>a.forEach(d=>d())}function pe(s,t){s.printing=t,s.el.style.width=t?"660px":"",ht(s),t&&s.pictures.forEach(e=>e.resize())}var me=s=>Object.values(s.option).join(", "),ft=class{entries;choose;menus;slot;constructor(t,e){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),Object.assign(this,{slot:t.slot,group:t.group,span:t.span,least:t.least,
choose:e,entries:[],menus:{},made:{},shown:""})}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){for(let e of Object.
keys(this.entries[0].option)){let i=[...new Set(this.entries.map(a=>a.option[e]))],n=u("select",{"aria-label":`${e} of this picture`},...i.map(
a=>u("option",{value:a},a)));n.addEventListener("change",()=>{let a=this.entry(t()).option,r=l=>Object.keys(a).filter(h=>l.option[h]===a[h]).
length,o=this.entries.filter(l=>l.option[e]===n.value);this.choose(me(o.reduce((l,h)=>r(h)>r(l)?h:l)))}),this.menus[e]=n,i.length>1&&this.choice.
append(n)}}entry(t){return this.entries.find(e=>me(e)===t[this.slot])??this.entries[0]}phase(t,e){this.phases=new tt(t,e),this.pair.after(this.
phases.node)}},pt=class{page;frames;tallest;constructor(t,e){Object.assign(this,{frames:t,page:e,tallest:new Map})}tabOf({tab:t}){let{names:e,
printing:i}=this.page;return i()?"All":e.includes(t)?t:e[0]}inTab(t,e){return e==="All"||t.group===e}reads(t){return this.page.article.reads(
t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<640&&!this.page.printing()}get screen(){return this.page.el.closest("\
.jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,e){let i=o=>o.reduce((l,h)=>l+h,0),n=i(e.map(o=>o.span)),
a=e.map(o=>Math.ceil(12*o.least/this.page.grid.clientWidth)),r=e.map(o=>Math.max(3,Math.round(12*o.span/n)));return r.some((o,l)=>o<a[l])&&i(
a)<=12&&a.every(Boolean)&&(r=a),r[r.length-1]+=12-i(r),r[e.indexOf(t)]}arrange(t){let{page:e,frames:i}=this,{el:n,grid:a,tabs:r,compare:o,undo:l,
names:h,article:{story:d}}=e,c=e.printing(),f=n.clientWidth,p=this.tabOf(t),g=this.reads(t),b=f>=900,m=i.filter(v=>this.inTab(v,p)),z={narrow:f<
640||c,beside:b&&!c,above:!b&&!c,two:t.b,reads:g,story:d.length&&!c};for(let[v,k]of Object.entries(z))n.classList.toggle(`fv-${v}`,!!k);for(let v of[
r,o,l])v.hidden=g||v===r&&h.length<2;let w=v=>a.clientWidth*this.spread(v,m)/12<v.least;g&&(!b||t.b||m.some(w))&&(m=[m.find(v=>v.entries.some(
k=>k.name===d[t.step].set?.see))??m[0]]);let M=m.reduce((v,k)=>v+k.span,0),O=p!=="All"&&(M<=12||m.length<3)&&!t.b,L=O&&m.some(w),x=f<1e3||t.
b,y=[[]],E=(v,k)=>x?12/k.length:this.spread(v,k);for(let v of m){let k=[...y.at(-1),v],P=k.some(_=>a.clientWidth*E(_,k)/12<_.least);k.length>
1&&(P||k.reduce((_,W)=>_+(x?6:W.span),0)>12)&&y.push([]),y.at(-1).push(v)}let A=v=>E(v,y.find(k=>k.includes(v))??[v]),$=f<640&&!c;for(let v of i)
v.tap!==$&&(Object.assign(v,{tap:$}).about.open=!$),v.node.hidden=!m.includes(v),g&&!b&&t.b?v.pair.tabIndex=0:v.pair.removeAttribute("tabind\
ex"),v.node.style.gridColumn=(t.b||L)&&p!=="All"?"span 12":O?`span ${this.spread(v,m)}`:`span ${A(v)}`}tall(t,e){let{el:i,note:n}=this.page,
a=[i.clientWidth,!!e.b,this.reads(e),n.textContent].join(),r=this.tallest.get(t),o=t.hidden?0:Math.max(t.offsetHeight,r?.place===a?r.px:0);return this.
tallest.set(t,{place:a,px:o}),o}height(t,e){let{el:i,head:n,stage:a}=this.page,r=this.page.printing(),o=M=>this.tall(M,t),{height:l,layout:h}=e.
entry(t.chosen),{screen:d}=this,c=this.reads(t);if(c&&i.clientWidth<900)return a.clientHeight-o(n)-(e.phases?o(e.phases.node):0)-o(e.about.firstChild)-
o(e.choice)-24;let f=Object.keys(h).filter(M=>/^[xy]axis/.test(M)).length>2;if(t.b&&this.narrow)return f?440:Math.max(230,Math.round((d-o(n)-
40)/2));let p=e.phases&&!c?B(h)+92+290:300,g=i.clientWidth<690?p:Math.max(300,Math.min(p,d-o(n)-44));if(r)return l;if(this.tabOf(t)==="All")
return Math.max(g,Math.min(l,d-o(n)-40));let b=i.closest(".jp-Notebook")?0:i.getBoundingClientRect().top+window.scrollY,m=M=>(M.phases?o(M.phases.
node):0)+(c?o(M.choice)+o(M.caption):t.b?36:80),z=24+(c?Math.max(...this.frames.filter(M=>!M.node.hidden).map(m)):m(e)),w=d-o(n)-Math.max(z,
i.clientWidth>=1e3&&b<.3*d?b+48:0);return Math.round(Math.max(g,Math.min(t.b?440:560,w)))}};var ve=s=>t=>`${s} ${t.toFixed(3)}`,be={accuracy:s=>`accuracy ${(100*s).toFixed(1)} %`,nll:s=>`NLL ${s.toFixed(3)} nats`,ece:ve("ECE"),rmse:s=>`\
RMSE ${C(s)}`},is={...be,accuracy:s=>`${(100*s).toFixed(1)} % right`,nll:ve("NLL")},ut=class{live;list;index;fields;constructor(t,e){Object.
assign(this,{index:t.index,fields:t.index.fields,live:e,list:bt(t)})}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){
return this.list.filter(e=>e.meta.method===t)}fitted(t){return this.of(t).filter(e=>!e.meta.note).map(e=>e.meta.radius).sort((e,i)=>e-i)}stops(t){
let e=this.live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(i=>i.meta.radius),...e])].sort((i,n)=>i-n)}standing(t,e){let i=this.
methods.includes(t)?t:this.methods[0],n=this.of(i);return{method:i,wanted:e,member:n[X(n.map(a=>a.meta.radius),e)]}}get offered(){return this.
methods.map(t=>{let{label:e,unit:i}=this.of(t)[0].meta;return[t,e,this.stops(t),i,this.index.defaults[t]]})}add(t){for(let e of bt(t)){let i=this.
list.findIndex(n=>n.meta.method===e.meta.method&&n.meta.radius===e.meta.radius);i>=0&&(e.version=(this.list[i].version??0)+1),i<0?this.list.
push(e):this.list[i]=e}}ranges(t){let e={};for(let i of t.shared){let n=this.list.flatMap(a=>a.meta.ranges[t.name]?.[i]??[]);n.length&&(e[i]=
[Math.min(...n),Math.max(...n)])}return e}scores(t,e=be){return Object.entries(e).filter(([i])=>i in this.fields).map(([i,n])=>n(t(i)))}sentence({
method:t,member:e,wanted:i},n){let a=d=>D(this.fields,e,d),r=d=>a(d)[n-1],o=e.meta.radius,l=Math.abs(o-i)>1e-6*Math.max(1,i)&&this.of(t).length>
1?`radius ${C(i)} is not fitted; shown: `:"",h=o>0?`, radius ${C(o)}${e.meta.reach??""}`:e.meta.equals?`, radius 0, which is ${e.meta.equals}`:
"";return`${l}${e.meta.label}${h}${e.meta.note??""}, ${et(Math.min(n,e.meta.n_draws),"draw")}: `+(Number.isFinite(r("nll"))?`${this.scores(r).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(a("lambda1")[0])?`largest eigenvalue λ₁ ${C(a("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},e){let i=a=>D(this.fields,t,a)[e-1],[n]=D(this.fields,t,"lambda1");return Number.isFinite(
i("nll"))?`${this.scores(i,is).join(", ")}, λ₁ ${C(n)}`:"diverged"}aboutDraw({member:t},e){let i=D(this.fields,t,"draw loss")[e],n=D(this.
fields,t,"draw distance")[e];return Number.isFinite(i)?` Draw ${e+1}: training loss ${C(i)}, ${C(n)} off the plane.`:""}};function St(s){return new Ct(s).handle}var Ct=class{a;b;draws;drawsText;compare;player;undo;copied;more;bar;said;button;bands;work;note;controls;reading;readingB;spoken;names;tabs;tabButtons;grid;head;stage;article;pending=[];hovered=null;timers={};waiting=!1;stopped=!1;printing=!1;placed=!1;stale=!0;frames=[];forget=()=>{};constructor({
Plotly:t,model:e,el:i,bundle:n,ask:a=null,hash:r=!1,former:o=null}){let{index:l}=n;Dt(l.dark),this.Plotly=t,this.model=e,this.el=i,this.index=
l,this.ask=a,this.hash=r,this.schedule=this.schedule.bind(this),this.members=new ut(n,!!(l.live&&a)),this.state=new ot(e,l,this.schedule,w=>{
["method","radius","compare","step"].some(M=>M in w)&&this.player.halt(),["phase","chosen","tab","compare","step"].some(M=>M in w)&&this.frames.
forEach(M=>M.phases?.player.halt())}),o&&Object.assign(this.state,o),ce(this),he(this);for(let w of l.figures)this.place(w);for(let w of this.
frames)w.offer(()=>this.state.all.chosen);let{grid:h,head:d,stage:c,note:f,tabs:p,compare:g,undo:b,names:m,article:z}=this;this.layout=new pt(
this.frames,{el:i,grid:h,head:d,stage:c,note:f,tabs:p,compare:g,undo:b,names:m,article:z,printing:()=>this.printing}),ue(this),this.schedule()}current(){
let t=this.state.all,e=t.compare;return{...t,a:this.members.standing(t.method,t.radius),b:e&&this.members.standing(e.method,e.radius)}}get tools(){
let{Plotly:t,index:e,members:{list:i},state:n}=this;return{Plotly:t,index:e,members:i,point:(a,r)=>this.point(a,r),choose:(a,r)=>this.choose(
a,r),chosen:()=>n.all.chosen,redraw:this.schedule,replace:a=>a.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,e){
this.state.change({chosen:{...this.state.all.chosen,[t]:e}})}place(t){let e=t.slot?this.frames.find(i=>i.slot===t.slot&&i.group===t.group):null;
e||(e=new ft(t,i=>this.choose(t.slot,i)),this.grid.append(e.node),this.frames.push(e)),e.add(t),t.phases.length&&!e.phases&&e.phase(i=>this.
state.change({phase:i}),i=>this.playPhase(e,i))}playPhase(t,e){let{state:i}=this,n=t.entry(i.all.chosen),a=ct(this,n,i.all),r=n.phases.length-
1,o=e&&a===r?0:a+1;return o>r?!1:(e&&i.past.push(i.all),i.put({...i.all,phase:o}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(
t.made))}shown(){return this.frames.filter(t=>!t.node.hidden).flatMap(t=>{let e=t.entry(this.state.all.chosen);return["A","B"].map(i=>[i,e,t.
made[e.name+i]]).filter(([,,i])=>i?.node.isConnected&&i.state)})}later(t,e,i){clearTimeout(this.timers[t]),this.timers[t]=setTimeout(e,i)}schedule(){
this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&(this.el.isConnected?ht(this):setTimeout(
this.schedule,100))}))}point(t,e){let{state:i}=this;if(t==="click"){i.change({picked:i.all.picked===e?null:e});return}this.hovered!==e&&(this.
hovered=e,dt(this,this.current()),this.mark())}mark(){this.pictures.forEach(t=>t.light(t.plot.clientWidth?this.lit:null))}async photograph(){
if(this.stopped||!this.el.isConnected)return;let t=await Promise.all(this.shown().slice(0,2).map(([,,e])=>e.image("png")));this.ask("picture",
{images:t,text:this.spoken.innerText})}get handle(){let t=i=>(...n)=>this[i](...n),{state:e}=this;return{get history(){return{past:e.past,start:e.
start}},add:t("add"),status:t("status"),lost:t("lost"),stop:t("stop")}}add(t){this.members.add(t);for(let e of t.index.figures??[]){let i=Object.
assign(this.index.figures.find(a=>a.name===e.name),e),{made:n}=this.frames.find(a=>a.entries.includes(i));(e.data||e.layout)&&["A","B"].forEach(
a=>n[i.name+a]?.renew())}this.schedule()}status({share:t,text:e,busy:i,error:n}){this.bar.value=t,this.said.textContent=e,this.button.textContent=
i?"Stop":"Run",this.bands.disabled=i,this.note.hidden=!n,this.note.textContent=n??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.
hidden=!1,this.note.textContent=t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),this.frames.forEach(t=>t.phases?.player.halt()),
Object.values(this.timers).forEach(clearTimeout),this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var xe=s=>JSON.parse(document.getElementById(s).textContent),ns=()=>new Promise(s=>{requestAnimationFrame(()=>setTimeout(s))});async function ge(s){
let t=new Blob([K(xe(s))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(t).arrayBuffer())}
async function as(){performance.mark("flatviz-start");let s=xe("flatviz-start"),t=document.getElementById("explorer"),e={get:o=>s[o],set:(o,l)=>{
s[o]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await ns();let[i,n]=await Promise.all([ge("flatviz-index"),ge("flatviz-records")]),a=document.createElement("script");a.textContent=
document.getElementById("plotly").textContent,document.head.append(a);let r={index:JSON.parse(new TextDecoder().decode(i)),buffer:Nt(n)};St(
{Plotly:globalThis.Plotly,model:e,el:t,bundle:r,hash:!0})}return je(os);})();
