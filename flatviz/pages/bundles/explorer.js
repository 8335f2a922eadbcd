var flatvizExplorer=(()=>{var ut=Object.defineProperty;var ge=Object.getOwnPropertyDescriptor;var we=Object.getOwnPropertyNames;var ye=Object.prototype.hasOwnProperty;var ke=(e,t)=>{for(var i in t)ut(e,i,{get:t[i],enumerable:!0})},ze=(e,t,i,s)=>{if(t&&typeof t=="object"||typeof t=="function")for(let n of we(
t))!ye.call(e,n)&&n!==i&&ut(e,n,{get:()=>t[n],enumerable:!(s=ge(t,n))||s.enumerable});return e};var $e=e=>ze(ut({},"__esModule",{value:!0}),e);var si={};ke(si,{isDark:()=>X,learnColors:()=>G,onThemeChange:()=>Z,recolored:()=>B,show:()=>Lt,start:()=>ii});function mt(e){let{index:t}=e,i=e.buffer instanceof ArrayBuffer?e.buffer:e.buffer.buffer.slice(e.buffer.byteOffset,e.buffer.byteOffset+e.buffer.
byteLength),s=t.record;return t.members.map((n,a)=>({meta:n,data:new Float32Array(i,a*s*4,s),read:new Map}))}var U=e=>Uint8Array.from(atob(e),
t=>t.charCodeAt(0));function _t(e){let t=e.length/4,i=new Uint8Array(e.length);for(let s=0;s<4;s++)for(let n=0;n<t;n++)i[4*n+s]=e[s*t+n];return i}
function At(e,[t,...i]){if(!i.length)return Array.from(e);let s=e.length/t;return Array.from({length:t},(n,a)=>At(e.subarray(a*s,(a+1)*s),i))}
function D(e,t,i){if(!t.read.has(i)){let{offset:s,shape:n}=e[i],a=t.data.subarray(s,s+n.reduce((o,r)=>o*r,1));t.read.set(i,At(a,n))}return t.
read.get(i)}function Ct({field:e,rows:t},i,s,n){let a=s.meta.words[e];if(a!==void 0)return a;let o=D(i,s,e);return t==="draws"?o.slice(0,n):
t==="segments"?o.slice(0,3*n):t==="size"?o[Math.min(n,o.length)-1]:o}function V(e,[t,...i],s){let n=Array.isArray(e)?[...e]:{...e};return n[t]=
i.length?V(n[t]??{},i,s):s,n}function Y(e,t){let i=n=>n>0?Math.log10(n):-1/0,s=n=>n===t?0:Math.abs(i(n)-i(t));return e.reduce((n,a,o)=>s(a)<
s(e[n])?o:n,0)}var vt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function G(e){for(let[t,i]of Object.
entries(e))vt[t]??=i}function X(){let{body:e,documentElement:t}=document;return e.dataset.jpThemeLight?e.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Me(e,...t){let i=t.slice(0,3).map(r=>Number(r).toString(
16).padStart(2,"0")),s=vt[`#${i.join("")}`];if(!s||e.startsWith("rgba(255"))return e;let[n,a,o]=[1,3,5].map(r=>parseInt(s.slice(r,r+2),16));
return`rgba(${n}, ${a}, ${o}, ${t[3]})`}function B(e){return typeof e=="string"?e.length<4?e:e.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>vt[t.toLowerCase()]??
t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,Me):Array.isArray(e)?typeof e[0]=="number"?e:e.map(B):e===null||typeof e!="object"||ArrayBuffer.
isView(e)?e:Object.fromEntries(Object.entries(e).map(([t,i])=>[t,t==="colorscale"||t==="bdata"?i:B(i)]))}function Z(e){let t=matchMedia("(pr\
efers-color-scheme: dark)"),i=new MutationObserver(e);return i.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
i.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",e),()=>{i.disconnect(),t.removeEventListener(
"change",e)}}var Oe="http://www.w3.org/1998/Math/MathML",Le={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Ee=["max","min","log","KL","E"],je=[
"∑","max","min"],_e=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,S=(e,...t)=>({tag:e,inside:t});function Ae(e){let i=(e.replace(
/\\text\{[^}]*\}/g,l=>l.replaceAll(" "," ")).match(_e)??[]).filter(l=>!/^ +$/.test(l)),s=0,n=()=>{let l=[];for(;s<i.length&&i[s]!=="}";)l.push(
o());return s+=1,l.length===1?l[0]:S("mrow",...l)},a=()=>{let l=i[s++]??"";if(l==="{")return n();let c=l.startsWith("\\")?l.slice(1):"";if(c===
"frac")return S("mfrac",a(),a());if(c==="sqrt")return S("msqrt",a());if(c==="text"){let h=++s;for(;s<i.length&&i[s]!=="}";)s+=1;return{tag:"\
mtext",text:i.slice(h,s++).join("")}}if(Ee.includes(c))return{tag:"mo",text:c};let d=c?Le[c]??c:l;return/^[0-9.]+$/.test(d)?{tag:"mn",text:d}:
d.endsWith("′")?S("mrow",{tag:"mi",text:d[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(d)?{tag:"mi",text:d}:{tag:d===" "?"mtext":"mo",text:d}},
o=()=>{let l=a(),c={};for(;i[s]==="_"||i[s]==="^";)c[i[s++]]=a();let{_:d,"^":h}=c,p=je.includes(l.text??"");return d&&h?S(p?"munderover":"ms\
ubsup",l,d,h):d?S(p?"munder":"msub",l,d):h?S("msup",l,h):l},r=[];for(;s<i.length;)r.push(o());return S("math",S("mrow",...r))}function St({tag:e,
text:t,inside:i=[]}){let s=document.createElementNS(Oe,e);return t&&(s.textContent=t),t==="′"&&s.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&s.setAttribute("stretchy","false"),s.append(...i.map(St)),s}function Tt(e){let t=St(Ae(e));return t.setAttribute("display","blo\
ck"),t}function u(e,t={},...i){let s=document.createElement(e);for(let[n,a]of Object.entries(t))s.setAttribute(n,a);return s.append(...i),s}var A=e=>Number(
e.toPrecision(3)).toString(),tt=(e,t)=>`${e} ${t}${e===1?"":"s"}`,K=class{method;wanted;stops;stopsOf;first;constructor(t,i){this.change=i,this.
remembered={};let s=t?` ${t}`:"";this.letter=u("span",{class:"fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method",
"aria-label":`method${s}`}),this.radius=u("input",{type:"range",class:"fv-radius",min:0,step:1,"aria-label":`radius${s}`}),this.text=u("outp\
ut"),this.node=u("div",{class:"fv-side"},this.letter,u("label",{},u("span",{},`method${s}`),this.select),u("label",{},u("span",{},`radius${s}`),
this.radius,this.text)),this.select.addEventListener("change",()=>{this.remembered[this.method]=this.wanted;let n=this.select.value,a=this.stopsOf(
n);i({method:n,radius:this.remembered[n]??this.first(n)??a[Math.ceil((a.length-1)/2)]})}),this.radius.addEventListener("input",()=>i({radius:this.
stops[Number(this.radius.value)]}))}show(t,i,s,n=!1){let a=s.map(([l,,c])=>`${l}:${c.length}`).join()+t;a!==this.key&&(this.key=a,this.stopsOf=
l=>s.find(c=>c[0]===l)[2],this.first=l=>s.find(c=>c[0]===l)[4],this.select.replaceChildren(...s.map(([l,c])=>{let d=u("option",{value:l},c);
return d.selected=l===t,d}))),this.method=t,this.wanted=i,this.stops=this.stopsOf(t),this.radius.max=Math.max(1,this.stops.length-1),this.radius.
disabled=this.stops.length<2,this.radius.value=Y(this.stops,i);let o=s.find(l=>l[0]===t)[3],r=this.stops.length<2?"none":`${A(i)} ${o}${i===
0?" (= VI)":""}`;this.text.textContent=n?this.stops.length<2?"no radius":`radius ${A(i)}`:r,this.radius.setAttribute("aria-valuetext",r)}},Ce=1200,
Se={duration:800,easing:"cubic-in-out"},Te=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},Q=class{next;constructor(t,i){
this.next=t,this.timer=0,this.button=R("Play",i,()=>this.timer?this.halt():this.go(!0))}get glide(){return this.timer&&!Te.matches?Se:void 0}go(t){
this.timer=setTimeout(()=>this.go(!1),Ce),this.next(t)?this.button.textContent="Pause":this.halt()}halt(){clearTimeout(this.timer),this.timer=
0,this.button.textContent="Play"}};function Nt(e,t){let i=u("div",{}),s=u("details",{class:"fv-menu"},u("summary",{},e),i);for(let[n,a]of t){
let o=u("button",{type:"button"},n);o.addEventListener("click",()=>{s.open=!1,a()}),i.append(o)}return s.addEventListener("keydown",n=>{n.key===
"Escape"&&(s.open=!1,s.firstChild.focus())}),s.addEventListener("focusout",n=>{n.relatedTarget&&!s.contains(n.relatedTarget)&&(s.open=!1)}),
s}function R(e,t,i){let s=u("button",{type:"button",title:t},e);return s.addEventListener("click",i),s}var Ne={"λ₁":"the largest eigenval\
ue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"negative log likelihood: mean of −log p of the rig\
ht answers; low is good",ECE:"expected calibration error: how far confidence is from the share of right answers; low is good","q′":"a post\
erior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler divergence: how far one distribution is from another, in n\
ats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function Bt(e){let t=new Set,i=s=>s.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).
map((n,a)=>a%2===0||t.has(n)?n:(t.add(n),u("abbr",{title:Ne[n],tabindex:0},n)));return e.split(`
`).filter(Boolean).map(s=>s.startsWith("= ")?u("p",{class:"fv-equation"},Tt(s.slice(2))):u("p",{},...s.split("**").flatMap((n,a)=>a%2?u("b",
{},...i(n)):i(n))))}async function et(e){let t=new Image;return t.src=e,await t.decode(),t}function bt(e,t){let i=u("a",{href:e,download:t});
document.body.append(i),i.click(),i.remove()}var W=e=>e.margin?.t??e.template.layout.margin.t;function Ft({layout:e,data:t},i,s,n){if(!e.yaxis?.scaleanchor||e.xaxis2)return null;let[a,o]=[
"xaxis","yaxis"].map(h=>i[h]??e[h].range),r=t.some(h=>h.colorbar)?130:20,l=a&&o?(a[1]-a[0])/(o[1]-o[0]):1,c=Be({data:t,layout:e}).reduce((h,p)=>h+
44+7.2*p.length,0),d=Math.min(s-60-r-(n-W(e)-92)*l,s-60-r-c)/2;return d<8?null:{margin:{...e.margin,t:W(e),l:60+d,r:r+d}}}function Dt(e,t){let i=[
"",2,3,4].filter(r=>e[`xaxis${r}`]),s=i.length>1&&i.every(r=>!e[`yaxis${r}`].domain);if(t>=460||!s)return e;let n=.1,a=(1-n*(i.length-1))/i.
length,o={};return i.forEach((r,l)=>{let c=1-l*(a+n),d=l===i.length-1;o[`xaxis${r}`]={...e[`xaxis${r}`],domain:[0,1],showticklabels:d,title:d?
e[`xaxis${r}`].title:""},o[`yaxis${r}`]={...e[`yaxis${r}`],domain:[Math.max(0,c-a),c],showticklabels:!0,nticks:4,title:l===1?e.yaxis.title:""}}),
{...e,...o,margin:{...e.margin,t:58}}}function Be({data:e,layout:t}){return t.showlegend===!1?[]:e.filter(i=>i.mode&&i.name&&i.showlegend!==
!1&&i.visible!==!1).map(i=>i.name)}function Wt({data:e,layout:t},i,s){let n=s-(t.margin?.t??76)-(t.margin?.b??92),a=f=>({...f,title:{...f.title,
font:{...f.title.font,size:Math.max(10,Math.min(15,n/(.54*f.title.text.length)))}}}),o=e.map(f=>f.colorbar?.title?.text?{...f,colorbar:a(f.colorbar)}:
f),{scene:r}=t,l=460/i;for(let f of Object.keys(t).filter(v=>/^[xy]axis\d*$/.test(v))){let v=t[f],[m,w]=v.domain??[0,1],$=f[0]==="y"?n:i-60,
[x]=(v.title?.text??"").split("<br>"),j=$*(w-m)/(.54*x.replace(/<[^>]*>/g,"").length);j<15&&(t={...t,[f]:{...v,title:{...v.title,font:{...v.
title.font,size:Math.max(9,j)}}}})}if(!r?.camera||l<=1)return{data:o,layout:t};let c=Object.fromEntries(Object.entries(r.camera.eye).map(([f,
v])=>[f,v*l**.7])),d=({title:f})=>f.text.replace(/ of [^)]*\)/,")"),h=(f,v)=>({...f,title:{...f.title,text:v,font:{size:10}},tickfont:{size:9}}),
p={xaxis:h(r.xaxis,d(r.xaxis)),yaxis:h(r.yaxis,d(r.yaxis)),zaxis:h(r.zaxis,"")};return{data:o,layout:{...t,scene:{...r,...p,camera:{...r.camera,
eye:c}}}}}function Rt({data:e,layout:t},i,s){let n=Math.max(0,W(t)-76)+(t.annotations?.some(o=>o.yref==="paper"&&o.y>=1)?16:0),a=(s?12:36)+Math.min(34,
n)+17*It({data:xt(e),layout:t},i).length;return{margin:{...t.margin,t:a,b:48,l:i<240?40:50,r:12}}}function It({data:e,layout:t},i){if(t.showlegend===
!1)return[];let s=[],n=0;for(let{name:a,mode:o,marker:r,line:l,showlegend:c,visible:d}of e){if(!o||!a||c===!1||d===!1)continue;let h=/markers/.
test(o)&&typeof r?.color=="string"?r.color:l?.color??"#1f2933",p=26+6.6*a.length,f=/markers/.test(o)?/cross/.test(r?.symbol)?"✚":"●":"–";
p>n&&(s.push([]),n=i-24),n-=p,s.at(-1)?.push(`<span style="color:${h}">${f} ${a}</span>`)}return s.map(a=>a.join("   "))}function qt(e,t){let i=It(
e,t),{annotations:s=[],margin:n}=e.layout;if(!i.length)return{};let a={x:0,y:1,xref:"paper",yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-
n.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...s,{...a,text:i.join("<br>"),font:{size:11}}]}}var Pt=e=>e.type===
"scatter"&&/lines/.test(e.mode)&&e.name?.length<11;function xt(e){if(e.some(s=>s.type==="scatter"&&s.mode==="markers"&&s.visible!==!1))return e;
let t=e.filter(s=>Pt(s)&&s.showlegend!==!1&&s.visible!==!1).length,i=0;return e.map(s=>{if(!Pt(s)||s.showlegend===!1||s.visible===!1)return s;
let n=s.y?.length??atob(s.y?.bdata??"").length/Number(s.y?.dtype?.[1]??8),a=n>2&&n<60?Math.max(0,n-1-i++*Math.max(1,Math.floor(n/t))):n-1,o=Array.
from({length:n},(r,l)=>l===a?s.name:"");return{...s,showlegend:!1,mode:`${s.mode}+text`,text:o,textposition:n<60?"top left":"top center",textfont:{
size:12,color:s.line?.color},cliponaxis:!1}})}function Ut(e){return e.colorbar?{...e,colorbar:{...e.colorbar,thickness:9,xpad:4,tickfont:{size:10},
title:{...e.colorbar.title,font:{size:10.5}}}}:e}var Kt=({xaxis:e})=>{let[,...t]=(e?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<\
br>");return t.length?` (${t.join("; ")}.)`:""};function Ht(e,t){let[,...i]=(e.title?.text??"").split("<br>"),s={...e.title,text:t?i.join("<\
br>"):e.title?.text,font:{...e.title?.font,size:12}},n=c=>Math.max(...c.split("<br>").map(d=>d.length)),a=e.annotations?.map(c=>({...c,font:{
...c.font,size:n(c.text??"")>54?8.5:10}})),o={...e.legend,font:{...e.legend?.font,size:11}},{xaxis:r}=e,l=r?.title?.text?.split("<br>")[0];return{
...e,title:s,legend:o,...l?{xaxis:{...r,title:{...r.title,text:l}}}:{},...a?{annotations:a}:{}}}var gt=e=>`${e[0]}axis${e.slice(1)}`;var De=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,Vt=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
Yt={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},wt=["contour","heatmap"];function yt(e,t){return Array.
isArray(e)&&Array.isArray(t)?e.length===t.length&&e.every((i,s)=>yt(i,t[s])):Object.is(e,t)}function Jt(e,t,i){let s=t.split("."),n=s.pop();
s.reduce((a,o)=>a[o],e)[n]=i}function Gt(e,t,i,s,n){let a=[],o={};for(let[d,h]of i){let[,p,f]=d.match(De)??[];if(p!==void 0&&Array.isArray(h)&&
Number.isInteger(t._fullData?.[p]?.index))a.push([Number(p),f,h]);else if(Vt.test(d))o[d]=h;else return!1}let r=[...new Set(a.map(([d])=>d))].
filter(d=>t._fullData[d].visible===!0);if(!r.every(d=>Pe(t,t._fullData[d])))return!1;for(let[d,h,p]of a)Jt(t.data[d],h,p),r.includes(d)&&Jt(
t._fullData[d],h,p);if(!r.every(d=>Re(t,d)))return!1;We(e,t,o);let l=new Set(r.map(d=>`${t._fullData[d].type} ${I(t._fullData[d])}`));return new Set(
[...l].map(d=>qe(t,n?null:r,...d.split(" "),s))).forEach(d=>d?.style(t)),!0}function We(e,t,i){let s={};for(let[n,a]of Object.entries(i)){let[
,o,r,l]=n.match(Vt)??[];t.layout[o][r][l]=a,s[`${o}[${r}].opacity`]=t.layout[o][r].opacity??1}Object.keys(s).length&&e.relayout(t,s)}var I=e=>e.
xaxis+e.yaxis;function Pe(e,t){let i=e._fullLayout?._plots?.[I(t)],s=Yt[t.type];if(!i||!s||t.zorder||!e.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:n,plot:a,style:o}=t._module;return[n,a,o].every(r=>typeof r=="function")&&!i.plot.select(`.${s}`).empty()}function Re(e,t){let i=e.
_fullData[t],{t:s}=e.calcdata[t][0],n=e._fullLayout._plots[I(i)],a=[n.xaxis,n.yaxis].filter(c=>c.autorange),o=()=>wt.includes(i.type)||a.every(
c=>Ie(e,i,c)),r=o();wt.includes(i.type)||(i._length=Math.min(i.x.length,i.y.length));let l=i._module.calc(e,i);return l[0].trace=i,l[0].t={...s,
...l[0].t},e.calcdata[t]=l,r&&o()}function Ie(e,t,i){let n=e._fullData.find(d=>wt.includes(d.type)&&d.visible===!0&&I(d)===I(t))?._extremes?.[i.
_id],a=t._extremes?.[i._id];if(!n?.min?.length||!a)return!1;let o=Math.abs(i.range[1]-i.range[0])/i._length,r=Math.min(...n.min.map(d=>d.val)),
l=Math.max(...n.max.map(d=>d.val)),c=({pad:d,extrapad:h})=>o*(d+(h?i._length/20:0));return a.min.every(d=>d.val-c(d)>=r)&&a.max.every(d=>d.val+
c(d)<=l)}function qe(e,t,i,s,n){let a=e._fullLayout._plots[s],o=e.calcdata.filter(([{trace:h}])=>h?.type===i&&h.visible===!0&&h._length!==0&&
I(h)===s),{_module:r}=o[0][0].trace,l=a.plot.select(`.${Yt[i]}`);if(r.crossTraceCalc?.(e,a),o.forEach(Ue),i!=="scatter")return r.plot(e,a,o,
l),r;let d=l.selectAll("g.trace").size()===o.length&&t&&!n&&o.every(([{trace:h}])=>!/^tonext/.test(h.fill)&&!h.stackgroup);return d?o.filter(
([{trace:h}])=>t.includes(h.index)).forEach(h=>r.plot(e,a,[h],l,{duration:0})):r.plot(e,a,o,l,n),a.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),d&&!o.some(([{trace:h}])=>h.error_y?.visible||h.error_x?.visible)?null:r}function Ue(e){let{error_y:t}=e[0].trace;t?.visible&&
e.forEach((i,s)=>{let n=i.i??s,a=t.array[n],o=(t.symmetric?t.array:t.arrayminus)[n];Number.isFinite(i.y)&&Number.isFinite(a)&&Number.isFinite(
o)&&Object.assign(i,{yh:i.y+a,ys:i.y-o})})}function Xt(e){for(let{plot:t}of Object.values(e._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Ke=matchMedia("(pointer: coarse)"),q=class{entry;tools;state;scene;revision;member;constructor(t,i,s){this.entry=t,this.tools=s,this.state=
"",this.width=0,this.revision=0,this.glides=0,this.mark=u("span",{class:"fv-letter",hidden:""},i),this.plot=u("div",{role:"group"}),this.node=
u("div",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,i,{height:s,most:n=1/0,width:a=this.plot.clientWidth,dark:o,phone:r=!1,ranges:l,
transition:c}){let{entry:d,plot:h,tools:p}=this,{index:f,Plotly:v}=p,m=a<460&&Rt(d,a,r);if(this.narrow=!!m&&r,d.layout.yaxis?.scaleanchor&&!d.
layout.xaxis2){let{t:z,b:E,l:y,r:L}=(m||null)?.margin??{},F=m?z+E+a-y-L-66:W(d.layout)+a-100;s=Math.round(m?Math.min(F,Math.max(n,z+E+85)):Math.
max(300,Math.min(s,F)))}if(d.layout.yaxis?.scaleanchor&&d.layout.xaxis2&&!m){let z=Object.keys(d.layout).filter(E=>/^xaxis\d*$/.test(E)).length;
s=Math.round(Math.max(300,Math.min(s,W(d.layout)+(a-160)/z+70)))}let w=m||Ft(d,l,a,s),$=d.binds.some(z=>z.rows!=="all"),x=[w&&a,o,s,JSON.stringify(
l)].join("/"),j=[x,t.meta.method,t.meta.radius,t.version??0,$?i:""].join("/");if(this.state===j)return this.resize(a),!1;let M=!this.state,O=d.
binds.map(z=>Ct(z,f.fields,t,i)),b=M||this.scene!==x?null:d.binds.flatMap(({path:z},E)=>yt(O[E],this.values[E])?[]:[[z,o?B(O[E]):O[E]]]);this.
state=j,this.scene=x,this.member=t,this.values=O;let k=performance.now()<this.glides;if(k&&Xt(h),this.glides=c?performance.now()+c.duration+
100:0,b&&Gt(v,h,b,c,k))return this.resize(a),!0;let g={data:d.data,layout:{...d.layout,height:s,uirevision:"kept",datarevision:++this.revision}};
d.binds.forEach((z,E)=>{g=V(g,z.path.split("."),O[E])});for(let[z,E]of Object.entries(l))g=V(g,["layout",z,"range"],E);return w&&(g.layout={
...g.layout,margin:w.margin}),g.layout=Dt(g.layout,a),g=Wt(g,a,s),m&&(g.data=xt(g.data).map(Ut)),this.print=m?Kt(g.layout):"",m&&(g.layout=Ht(
{...g.layout,...qt(g,a)},r)),Ke.matches&&(g.layout.dragmode=!1),o?g={data:B(g.data),layout:B(g.layout)}:g={data:g.data.map(z=>({...z})),layout:g.
layout},this.width=a,h.style.height=`${s}px`,v.react(h,g.data,g.layout,f.config),M?this.listen():h._fullLayout.width!==a&&v.Plots.resize(h),
!0}renew(){this.state&&(this.state="elsewhere",this.scene="")}describe(t){this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){
let i=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(i-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){
let t=s=>this.drawOf(s.points?.[0]),i=s=>n=>{let a=t(n);a!==null&&this.tools.point(s,a)};this.plot.on("plotly_hover",i("hover")),this.plot.on(
"plotly_click",i("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),this.plot.on("plotly_relayout",()=>this.tools.replace(
this))}drawOf(t){if(!t)return null;let{link:i}=this.entry,s=i[t.data.name];return s==="draws"?t.pointNumber:s==="eigenvalues"?Math.floor(t.pointNumber/
this.perDraw(t.data)):i.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){
this.rings.forEach(r=>r.remove()),this.rings=[];let i=this.plot._fullLayout;if(t===null||!this.state||!i)return;let s=(r,l)=>{let c=u("div",
{class:r,style:Object.entries(l).map(([d,h])=>`${d}:${h.toFixed(1)}px`).join(";")});this.rings.push(c),this.node.append(c)},{link:n}=this.entry,
a=this.plot.offsetTop,o=this.plot.offsetLeft;for(let r of this.plot._fullData){let l=n[r.name],c=i[gt(r.xaxis??"x")],d=i[gt(r.yaxis??"y")];if(!l||
!c?.d2p||!r.x)continue;let h=l==="draws"?1:this.perDraw(r);for(let p=t*h;p<(t+1)*h&&p<r.x.length;p++){let f={left:o+c._offset+c.d2p(r.x[p]),
top:a+d._offset+d.d2p(r.y[p])};Number.isFinite(f.left)&&Number.isFinite(f.top)&&s("fv-ring",f)}}if(n.x==="sizes"&&i.xaxis?.d2p){let{t:r,h:l}=i.
_size;s("fv-rule",{left:o+i.xaxis._offset+i.xaxis.d2p(t+1),top:a+r,height:l})}}image(t,i=1){let{width:s,height:n}=this.plot._fullLayout;return this.
tools.Plotly.toImage(this.plot,{format:t,width:s,height:n,scale:i})}};var He=255,Je=254;function zt(e){if(!e.images){let{pool:t,labels:i,shown:s,nats:n,n_draws:a,classes:o,probs:r}=e.meta.images,l=U(r);e.images=
{classes:o,kept:c=>Math.min(c,a),prob(c,d,h){let p=l[(c*t.length+d)*o.length+h];return p===He?NaN:p/Je},of:c=>s[c-1].map((d,h)=>({place:d,row:t[d],
label:i[d],nats:n[c-1][h]}))}}return e.images}var kt=new WeakMap;function Zt(e,...t){for(let i of t){let s=i?.rows?.indexOf(e)??-1;if(s<0)continue;
kt.has(i)||kt.set(i,{bytes:U(i.pixels),urls:new Map});let{bytes:n,urls:a}=kt.get(i),[o,r,l=1]=i.shape;if(!a.has(e)){let c=u("canvas",{width:r,
height:o}),d=c.getContext("2d"),h=d.createImageData(r,o);for(let p=0;p<o*r;p++){for(let f=0;f<3;f++)h.data[4*p+f]=n[s*o*r*l+p*l+(l>1?f:0)];h.
data[4*p+3]=255}d.putImageData(h,0,0),a.set(e,c.toDataURL())}return a.get(e)}return""}function _(e,t={},...i){let s=document.createElementNS(
"http://www.w3.org/2000/svg",e);for(let[n,a]of Object.entries(t))s.setAttribute(n,a);return s.append(...i),s}var it=12,H=(e,t)=>e.length>t?`${e.
slice(0,Math.max(1,t-1))}…`:e,Qt=e=>`${(100*e).toFixed(0)} %`;function te(e,t,{left:i,top:s,width:n,height:a,turned:o,foot:r}){let{now:l,n:c,ink:d,lit:h}=e,{classes:p}=t,f=t.kept(c),v=n/p.length,m=b=>i+
(b+.5)*v,w=b=>s+(1-b)*a;e.chart={x:m,y:w,step:v,items:t};let $=_("g",{"data-chart":l.row}),x=(b,k)=>$.append(_("text",k,b));$.append(_("rect",
{x:i,y:s,width:n,height:a,fill:"transparent"}));for(let b of[0,.25,.5,.75,1])$.append(_("line",{x1:i,x2:i+n,y1:w(b),y2:w(b),stroke:d.line})),
x(b,{x:i-6,y:w(b)+4,"text-anchor":"end",fill:d.soft});let{color:j}=e.member.meta.images;p.forEach((b,k)=>{let g=Array.from({length:f},(E,y)=>t.
prob(y,l.place,k)).reduce((E,y)=>E+y,0)/f;Number.isFinite(g)&&$.append(_("rect",{class:"fv-mean",x:m(k)-.36*v,y:w(g),width:.72*v,height:g*a,
fill:j,"fill-opacity":e.dark?.6:.35}));let z={x:m(k),y:s+a+16,"text-anchor":o?"end":"middle","font-weight":k===l.label?700:400};x(H(b,it),o?
{...z,transform:`rotate(-40 ${m(k)} ${s+a+16})`}:z)});let M=b=>p.map((k,g)=>[m(g),w(t.prob(b,l.place,g))]).filter(([,k])=>Number.isFinite(k)).
map(k=>k.map(g=>g.toFixed(2)).join(",")).join(" "),O=(b,k)=>$.append(_("polyline",{"data-draw":b,points:M(b),fill:"none","stroke-linejoin":"\
round",...k}));for(let b=0;b<f;b++)O(b,{stroke:e.dark?d.ink:j,"stroke-width":1.2,"stroke-opacity":.55});return h!==null&&h<f&&O(h,{stroke:d.
mark,"stroke-width":3.5}),x(`Test image ${l.row}, label ${p[l.label]}`,{x:i-30,y:s-36,"font-size":15}),x(f===1?"one draw: its probabilities":
`bars: mean of ${f} draws; lines: single draws${h!==null&&h<f?`; thick: draw ${h+1}`:""}`,{x:i-30,y:s-16,fill:d.soft}),x("class (bold: the l\
abel)",{x:i+n/2,y:s+a+r,"text-anchor":"middle",fill:d.soft}),$}var st=class extends q{chosen;n;height;dark;chart;ink;constructor(t,i,s){super(t,i,s),this.lit=this.pointed=null;let n=o=>o.target.closest?.(
"[data-row]"),a=o=>o.target.closest?.("[data-chart]");this.plot.addEventListener("pointermove",o=>{let r=n(o);r?this.show(Number(r.dataset.row)):
a(o)&&this.point("hover",o)}),this.plot.addEventListener("pointerleave",()=>{this.show(null),this.tools.point("hover",null)}),this.plot.addEventListener(
"click",o=>{let r=n(o);r?this.tools.choose("image",r.dataset.row):a(o)&&this.point("click",o)}),this.plot.addEventListener("keydown",o=>{let r=n(
o);r&&(o.key==="Enter"||o.key===" ")&&(o.preventDefault(),this.tools.choose("image",r.dataset.row))}),this.plot.addEventListener("focusin",o=>{
let r=n(o);r&&!this.painting&&this.show(Number(r.dataset.row))})}draw(t,i,{height:s,width:n=this.plot.clientWidth,dark:a}){let{tools:o}=this,
r=o.chosen().image??"",l=[n,t.meta.method,t.meta.radius,t.version??0,i,a,s,r].join("/");return this.state===l?!1:(r!==this.chosen&&(this.pointed=
null),this.state=l,this.member=t,this.n=i,this.height=s,this.dark=a,this.chosen=r,this.width=n,this.paint(),!0)}resize(){!this.state||!this.
plot.clientWidth||this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,this.paint())}light(t){this.lit===t||!this.state||(this.
lit=t,this.paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,i){let{left:s,top:n}=this.plot.firstChild.
getBoundingClientRect(),{x:a,y:o,step:r,items:l}=this.chart,c=Math.max(0,Math.min(l.classes.length-1,Math.floor((i.clientX-s-a(0)+r/2)/r))),
d=p=>{let f=l.prob(p,this.now.place,c);return Number.isFinite(f)?Math.abs(o(f)-(i.clientY-n)):1/0},h=Array.from({length:l.kept(this.n)},(p,f)=>f).
reduce((p,f)=>d(f)<d(p)?f:p,0);d(h)<14?this.tools.point(t,h):t==="hover"&&this.tools.point("hover",null)}paint(){let{plot:t,member:i,n:s,width:n,
height:a,dark:o}=this;if(!n)return;let r=zt(i),l=r.of(s),c=n>=620;this.ink=o?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"\
#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"};let d=[this.pointed,Number(this.chosen||NaN)].find(b=>l.
some(k=>k.row===b))??l[0].row;this.now=l.find(b=>b.row===d);let h=document.activeElement,p=t.contains(h)?h.dataset.row:null,f=_("svg",{width:n,
height:a,viewBox:`0 0 ${n} ${a}`,"font-size":12,"font-family":"system-ui, sans-serif",fill:this.ink.ink});f.append(_("rect",{width:n,height:a,
fill:this.ink.paper}));let v=c?{left:8,top:34,width:.52*n-16,height:a-40}:{left:6,top:30,width:n-12,height:.54*a-30},m=c?.48*n-62:n-52,w=Math.
min(it,Math.max(...r.classes.map(b=>b.length))),$=m/r.classes.length<7*w,x=$?34+4.3*w:36,j=c?{left:.52*n+46,top:58,width:m,height:a-82-x,turned:$,
foot:x}:{left:40,top:.54*a+50,width:m,height:.46*a-60-x,turned:$,foot:x},M=(b,k,g,z=15)=>f.append(_("text",{x:k,y:g,"font-size":z},b)),O=r.kept(
s)===1?"it is least sure":"the draws disagree most";M(c&&r.kept(s)>1?`Images on which ${O}`:`Where ${O}`,v.left+(this.mark.hidden?4:18),22),
l.forEach((b,k)=>f.append(this.tile(r,b,k,l.length,v))),f.append(te(this,r,j)),t.style.height=`${a}px`,t.replaceChildren(f),this.painting=!0,
p&&t.querySelector(`[data-row="${p}"]`)?.focus(),this.painting=!1,this.drawn={rows:l.map(b=>b.row),row:d},this.name()}describe(t){this.words=
t,this.name()}name(){if(!this.now||!this.words)return;let{classes:t,of:i}=zt(this.member),s=i(this.n).map(n=>t[n.label]).join(", ");this.plot.
setAttribute("aria-label",`${this.words} Labels of the images: ${s}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{
place:i,row:s,label:n,nats:a},o,r,{left:l,top:c,width:d,height:h}){let f=Math.ceil(r/4),v=d/4,m=Math.min(v-10,h/f-48),w=m+48,$=l+o%4*v+(v-m)/
2,x=c+Math.floor(o/4)*w,{member:j,tools:M,lit:O,n:b,ink:k}=this,g=t.kept(b),{classes:z}=t,E=new Map;for(let C=0;C<g;C++){let P=this.best(t,C,
i);E.set(P,(E.get(P)??0)+1)}let y=[...E].sort((C,P)=>P[1]-C[1]),L=O!==null&&O<g?this.best(t,O,i):null,F=L===null?y.map(([C,P])=>`${z[C]??"no\
ne"}${g>1?`×${P}`:""}`).join(" "):`${v>110?`draw ${O+1}: `:""}${z[L]??"none"}, ${Qt(t.prob(O,i,L))}`,N=Math.floor((v-8)/6.9),ft=H(F,N),J=a.
toFixed(2),me=[`${z[n]} · ${J} nats`,`${z[n]} · ${J}`].find(C=>C.length<=N)??`${H(z[n],N-J.length-3)} · ${J}`,jt=`test image ${s}, label ${z[n]}\
, disagreement ${a.toFixed(2)} nats; answers ${F}`,ve=_("image",{x:$,y:x,width:m,height:m,href:Zt(s,j.meta.images,M.index.images),style:"ima\
ge-rendering:pixelated"}),be={x:$-1,y:x-1,width:m+2,height:m+2,fill:"none"},pt=this.now.row===s,xe=L!==null&&L!==n;return _("g",{"data-row":s,
role:"button",tabindex:0,"aria-label":jt,"aria-pressed":pt,style:"cursor:pointer"},_("title",{},jt),ve,_("rect",{...be,stroke:pt?k.mark:k.line,
"stroke-width":pt?3:1}),_("text",{x:$+m/2,y:x+m+16,"text-anchor":"middle"},me),_("text",{x:$+m/2,y:x+m+32,"text-anchor":"middle","font-size":11.5,
class:"fv-said","font-weight":L===null?400:600,fill:L===null?k.soft:xe?k.mark:k.ink},ft))}best(t,i,s){let n=NaN,a=-1;return t.classes.forEach(
(o,r)=>{let l=t.prob(i,s,r);l>a&&([n,a]=[r,l])}),n}async image(t,i=1){let{width:s,height:n}=this,a=this.plot.firstChild.cloneNode(!0);a.setAttribute(
"xmlns","http://www.w3.org/2000/svg");let o=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(a))}`;if(t==="svg")
return o;let r=await et(o),l=u("canvas",{width:s*i,height:n*i});return l.getContext("2d").drawImage(r,0,0,l.width,l.height),l.toDataURL("ima\
ge/png")}};var $t={tab:"",compare:null,picked:null,chosen:{},step:-1},nt=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:i,members:s},n,a){
this.model=t,this.most=i,this.methods=s.map(o=>o.method),this.changed=n,this.acted=a,this.past=[],this.last="",this.when=0,this.start=this.all}get all(){
let{model:t}=this,i=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:i,...$t,...t.
get("look")??{}}}change(t){let i=Object.keys(t).join(),s=Date.now();(i!==this.last||s-this.when>700)&&this.past.push(this.all),this.past.length>
100&&this.past.shift(),this.last=i,this.when=s,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:i,n_draws:s,...n}){let a=Object.
fromEntries(Object.keys($t).map(o=>[o,n[o]??$t[o]]));for(let[o,r]of Object.entries({method:t,radius:i,n_draws:s,look:a}))this.model.set(o,r);
this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put({...this.past.pop(),step:this.
all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:i,n_draws:s,tab:n,compare:a,picked:o,
chosen:r,step:l}=this.all,c=new URLSearchParams({method:t,radius:i,draws:s});n&&c.set("tab",n),a&&c.set("b",`${a.radius}:${a.method}`),o!==null&&
c.set("draw",o+1),l!==this.start.step&&c.set("step",l+1);for(let[d,h]of Object.entries(r))c.set(`see.${d}`,h);return`#${c}`}read(t){let i=new URLSearchParams(
t.replace(/^#/,"")),s={},n=(l,c)=>{let d=i.has(l)?Number(i.get(l)):NaN;return d>=c&&Number.isFinite(d)?d:null};this.methods.includes(i.get("\
method"))&&(s.method=i.get("method")),n("radius",0)!==null&&(s.radius=n("radius",0)),n("draws",1)!==null&&(s.n_draws=Math.round(n("draws",1))),
i.has("tab")&&(s.tab=i.get("tab")),n("draw",1)!==null&&(s.picked=Math.round(n("draw",1))-1),n("step",0)!==null&&(s.step=Math.round(n("step",
1))-1);let[,a,o]=i.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];o!==void 0&&Number.isFinite(Number(a))&&(s.compare={method:o,radius:Number(a)});
let r=[...i].filter(([l])=>l.startsWith("see.")).map(([l,c])=>[l.slice(4),c]);r.length&&(s.chosen=Object.fromEntries(r)),Object.keys(s).length&&
this.put({...this.start,...s})}};var at=class{page;story;constructor(t,i){this.story=t,this.page=i,this.explored=null,this.rest=0,this.sections=t.map(s=>u("section",{},u("h2",
{},s.title),...Bt(s.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:i}=this,s=i+.45*(window.innerHeight-i),n=Math.
max(0,t.findLastIndex(a=>a.getBoundingClientRect().top<s));return n<t.length-1?n:-1}follow(){let{page:{state:t,resting:i},story:s}=this,n=this.
inSight(),a=t.all;if(i()||n===a.step)return;a.step<0&&(this.explored=a);let{method:o,radius:r,n_draws:l}=t.start;t.acted({step:n}),t.put(n<0&&
this.explored||{method:o,radius:r,n_draws:l,...s.at(n).set,step:n})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Ve=40,Ye=450;async function Mt(e,t){for(let[i,s,n]of e){let{method:a,radius:o}=n.member.meta;bt(await n.image(t,t==="png"?2:1),["flatviz",
s.name,a,o||"",i==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function ee({el:e,state:t,member:i,radii:s,shown:n}){let a=t.all,{method:o,
label:r}=i.meta,l=[];for(let M of s){for(t.put({...a,radius:M});e.dataset.state!==`${o}/${M}/${a.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:M,images:await Promise.all(n().map(async([,,O])=>et(await O.image("png"))))})}t.put(a);let c=Math.max(...l.map(({images:M})=>M.
reduce((O,b)=>O+b.width,0))),d=Math.max(...l.flatMap(({images:M})=>M.map(O=>O.height))),h=u("canvas",{width:c+c%2,height:d+Ve+d%2}),p=h.getContext(
"2d"),{color:f,backgroundColor:v,fontFamily:m}=getComputedStyle(e),w=[],$=["video/mp4","video/webm"].find(M=>MediaRecorder.isTypeSupported(M)),
x=new MediaRecorder(h.captureStream(),{mimeType:$,videoBitsPerSecond:4e6}),j=new Promise(M=>{x.addEventListener("stop",M)});x.addEventListener(
"dataavailable",({data:M})=>w.push(M)),x.start();for(let{radius:M,images:O}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(p,{fillStyle:v,
font:`600 18px ${m}`}),p.fillRect(0,0,h.width,h.height),O.reduce((b,k)=>(p.drawImage(k,b,0),b+k.width),0),p.fillStyle=f,p.fillText(`${r}, ra\
dius ${M}`,14,h.height-14),await new Promise(b=>{setTimeout(b,Ye)});x.stop(),await j,bt(URL.createObjectURL(new Blob(w,{type:$})),`flatviz-${o}\
-radius.${$?.slice(6)}`)}function ie(e,t,{n_draws:i}){let s=e.filter(([,n])=>n.kind==="plotly").map(([,n,{member:{meta:a}}])=>`fv.widgets.pl\
ot_view(family, ${JSON.stringify(n.name)}, method=${JSON.stringify(a.method)}, radius=${a.radius}, n_draws=${i})`);return["import flatviz as\
 fv","",...t.code??[],...s].join(`
`)}var ot=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,i){
let{node:s}=this;s.hidden=!1,s.value=t,s.select(),navigator.clipboard?.writeText(t).then(()=>s.setAttribute("aria-label",`${i}, copied`),()=>{});
let n=a=>{a.target!==s&&(s.hidden=!0,document.removeEventListener("pointerdown",n))};document.addEventListener("pointerdown",n)}};function se(e){e.dataset.lmSuppressShortcuts="true";let t=i=>{!i.ctrlKey&&!i.metaKey&&!i.altKey&&!(i.shiftKey&&i.key==="Enter")&&i.stopPropagation()};
return e.addEventListener("keydown",t),()=>e.removeEventListener("keydown",t)}var ne=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
.flatviz.fv-above.fv-reads:is(:not(.fv-drawn), .fv-two) label:has(.fv-draws) { display: none; }
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
  .flatviz .fv-bar { position: static; } .flatviz :is(.fv-buttons, .fv-tabs, figcaption summary) { display: none; } .flatviz .fv-article sec\
tion { min-height: 0 !important; }
  .flatviz figure { break-inside: avoid; grid-column: 1 / -1 !important; }
}
`;function ae(e){let{state:t,index:i,members:s,hash:n,ask:a}=e;e.a=new K("",o=>t.change(o)),e.b=new K("B",o=>t.change({compare:{method:e.b.method,
radius:e.b.wanted,...o}})),e.draws=u("input",{type:"range",class:"fv-draws",min:1,max:i.n_max,step:1,"aria-label":"ensemble size"}),e.drawsText=
u("output"),e.draws.addEventListener("input",()=>t.change({n_draws:Number(e.draws.value)})),e.compare=R("Compare","two states side by side, \
on the same scales",()=>{let o=e.current(),r=s.methods.find(l=>l==="vi"&&l!==o.a.method)??o.a.method;t.change({compare:o.b?null:{method:r,radius:s.
stops(r)[0]}})}),e.player=new Q(o=>Xe(e,o),"go through the fitted radii of this method"),e.undo=R("Undo","take the last change back",()=>t.undo()),
e.copied=new ot,e.more=Nt("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>e.copied.take(ie(e.shown(),i,t.all),"code")],...n?[["Copy link",
()=>e.copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>Mt(e.shown(),"svg")],["Save as PNG",()=>Mt(e.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:o}=e.current().a;ee({el:e.el,state:t,member:o,radii:s.fitted(o.
meta.method),shown:()=>e.shown()})}]]:[]]),e.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),e.said=u("span",
{role:"status"}),e.button=R("Stop","stop or start fitting",()=>a?.(e.button.textContent==="Stop"?"stop":"run")),e.bands=R("Bands over seeds",
"fit every member again with two more seeds, behind the picture",()=>a?.("seeds")),e.bands.hidden=i.seeds!==1,e.work=u("div",{class:"fv-work"},
e.button,e.bar,e.said,e.bands),e.work.hidden=!s.live,e.note=u("div",{class:"fv-note",role:"alert",hidden:""})}function Xe(e,t){let{a:{method:i,
member:s}}=e.current(),{radius:n}=s.meta,a=e.members.fitted(i),o=a.find(r=>r>n)??(t?a[0]:void 0);return o===void 0||a.length<2?!1:(t&&e.state.
past.push(e.state.all),e.state.put({...e.state.all,radius:o}),!0)}function oe(e){let{el:t,index:i,state:s}=e,n=[...new Set(i.figures.map(r=>r.
group))];e.controls=u("div",{class:"fv-controls",role:"group","aria-label":"controls"},e.a.node,u("label",{},u("span",{},"ensemble size"),e.
draws,e.drawsText),e.b.node);let a=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},e.player.button,e.compare,e.undo,e.more);
e.reading=u("p",{class:"fv-reading"}),e.readingB=u("p",{class:"fv-reading",hidden:""}),e.spoken=u("div",{"aria-live":"polite"},e.reading,e.readingB),
e.names=n.length>1?[...n,"All"]:n;let o=`fv-panel-${Math.random().toString(36).slice(2)}`;e.tabs=Ze(e,o),e.grid=u("div",{class:"fv-figures",
role:"tabpanel",id:o,"aria-label":"pictures",tabindex:0}),e.head=u("div",{class:"fv-bar"},e.controls,e.work,e.note,e.spoken,u("div",{class:"\
fv-strip"},e.tabs,a)),e.stage=u("div",{class:"fv-stage"},e.head,e.copied.node,e.grid),e.article=new at(i.story??[],{el:t,stage:e.stage,state:s,
resting:()=>e.stopped||e.printing||!e.placed}),t.classList.add("flatviz"),se(t),t.replaceChildren(u("style",{},ne),u("div",{class:"fv-body"},
e.article.node,e.stage))}function Ze(e,t){let{names:i,state:s}=e,n=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"});return e.tabButtons=
i.map(a=>{let o=u("button",{type:"button",role:"tab","aria-controls":t},a);return o.addEventListener("click",()=>s.change({tab:a})),o}),n.append(
...e.tabButtons),n.addEventListener("keydown",a=>{let o={ArrowRight:1,ArrowLeft:-1}[a.key];if(!o)return;let r=(i.indexOf(e.layout.tabOf(s.all))+
o+i.length)%i.length;s.change({tab:i[r]}),e.tabButtons[r].focus()}),n.hidden=i.length<2,n}function rt(e,t){let{a:i,b:s,n_draws:n}=t,{members:a,
draws:o,drawsText:r,layout:l}=e,{offered:c}=a,{narrow:d}=l;e.a.show(i.method,t.radius,c,d),e.a.letter.textContent=s?"A":"",e.b.node.hidden=!s,
s&&e.b.show(s.method,t.compare.radius,c,d),o.value=n,o.disabled=[i,s].every(m=>!m||m.member.meta.n_draws===1),r.textContent=o.disabled?"one \
point":tt(n,"draw"),o.setAttribute("aria-valuetext",r.textContent),e.compare.setAttribute("aria-pressed",!!s),e.compare.textContent=s?"One s\
tate":"Compare",e.undo.disabled=!e.state.past.length,e.player.button.disabled=a.of(i.method).length<2;let h=e.hovered??t.picked,p=d&&l.reads(
t),f=(m,w)=>[(s?`${w}: `:"")+(p?a.numbers(m,n):a.sentence(m,n)),u("span",{class:"fv-draw"},h===null?"":a.aboutDraw(m,h))];e.reading.replaceChildren(
...f(i,"A")),e.readingB.hidden=!s,s&&e.readingB.replaceChildren(...f(s,"B"));let v=l.tabOf(t);e.el.classList.toggle("fv-drawn",e.frames.some(
m=>l.inTab(m,v)&&Object.keys(m.entry(t.chosen).link).length>0)),e.tabButtons.forEach((m,w)=>{m.setAttribute("aria-selected",e.names[w]===v),
m.tabIndex=e.names[w]===v?0:-1})}function lt(e){let{layout:t,el:i}=e,s=e.current();t.arrange(s),rt(e,s),!e.placed&&!e.stopped&&(e.placed=!0,e.article.goTo());let n=X()&&!e.printing;
i.dataset.theme=n?"dark":"light",e.pending=e.frames.filter(o=>!o.node.hidden).flatMap(o=>Qe(e,o,s));for(let o of e.pending)o.height=t.height(
s,o.frame),o.most=e.printing?1/0:t.reads(s)||s.b&&i.clientWidth<640?o.height:t.screen-t.tall(e.head,s)-8,o.picture.state&&(o.width=o.picture.
plot.clientWidth);let a=({frame:o})=>{let{top:r,bottom:l}=o.node.getBoundingClientRect();return l<0||r>window.innerHeight};t.tabOf(s)==="All"&&
e.pending.sort((o,r)=>Number(a(o))-Number(a(r))),re(e,s,n)}function Qe(e,t,i){let s=t.entry(i.chosen),n=s.kind==="plotly"&&!s.binds.length,a=i.
b&&!n?{A:i.a,B:i.b}:{A:i.a};if(t.shown!==`${s.name}/${Object.keys(a)}`){t.shown=`${s.name}/${Object.keys(a)}`,t.node.dataset.name=s.name;for(let[
r,l]of Object.entries(s.option))t.menus[r].value=l;let o=Object.keys(a).map(r=>t.made[s.name+r]??=new(s.kind==="images"?st:q)(s,r,e.tools));
t.pair.replaceChildren(...o.map(r=>r.node))}return t.caption.textContent!==s.caption&&(t.caption.textContent=s.caption),Object.entries(a).flatMap(
([o,{member:r}])=>{let l=t.made[s.name+o],c=!!r.meta.waiting?.includes(s.name);return l.node.classList.toggle("fv-waits",c),c?[]:(l.mark.hidden=
!i.b||n,[{frame:t,picture:l,member:r,entry:s,height:0,most:0,width:void 0}])})}function re(e,t,i){let{members:s,pending:n,el:a}=e,o=performance.
now()+(e.printing?1e9:30);for(;n.length;){let{frame:r,picture:l,member:c,entry:d,height:h,most:p,width:f}=n.shift();l.draw(c,t.n_draws,{height:h,
most:p,width:f,dark:i,phone:e.layout.narrow,ranges:s.ranges(d),transition:e.player.glide})&&l.light(e.hovered??t.picked);let[v]=(d.layout.title?.
text??"").split("<br>");if(r.about.firstChild.textContent=l.narrow&&v?`${v}: what is this?`:"What is this?",l.print&&!r.caption.textContent.
endsWith(l.print)&&r.caption.append(l.print),l.describe(`${c.meta.alts[d.name]}. ${s.sentence({member:c,wanted:c.meta.radius,method:c.meta.method},
t.n_draws)}`),performance.now()>o&&n.length){requestAnimationFrame(()=>{e.pending===n&&!e.stopped&&re(e,t,i)});return}}if(a.dataset.state=`${t.
a.method}/${t.a.member.meta.radius}/${t.n_draws}`,a.dataset.shown=t.a.member.meta.note?"preview":"fitted",a.dataset.look=`${e.layout.tabOf(t)}${t.
b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,e.hash&&!e.stale){let r=location.hash;e.later("address",()=>{location.hash===r&&history.
replaceState(null,"",e.state.hash)},100)}e.stale&&performance.mark("flatviz-drawn"),e.stale=!1,s.live&&e.later("shot",()=>e.photograph(),1500)}function de(e){let{el:t,state:i,model:s,article:n}=e,a=[],o=0,r=(d,h,p,f)=>{d.addEventListener(h,p,f),a.push(()=>d.removeEventListener(h,p))},
l=["radius","n_draws","method","look"].map(d=>`change:${d}`);for(let d of l)s.on(d,e.schedule);let c=new ResizeObserver(()=>{e.stopped||!t.clientWidth||
(t.clientWidth!==o&&(o=t.clientWidth,e.placed=!1,e.layout.arrange(e.current()),e.schedule()),e.pictures.forEach(d=>d.resize()),e.mark())});[
t,e.grid].forEach(d=>c.observe(d)),a.push(Z(e.schedule),()=>c.disconnect(),()=>l.forEach(d=>s.off?.(d,e.schedule))),r(window,"beforeprint",()=>le(
e,!0)),r(window,"afterprint",()=>le(e,!1)),r(window,"resize",e.schedule),n.story.length&&r(window,"scroll",n.scrolled,{passive:!0}),e.hash&&
(r(window,"hashchange",()=>{location.hash!==i.hash&&(i.read(location.hash),e.placed=!1)}),location.hash.length>1&&i.read(location.hash)),e.forget=
()=>a.forEach(d=>d())}function le(e,t){e.printing=t,e.el.style.width=t?"660px":"",lt(e),t&&e.pictures.forEach(i=>i.resize())}var ce=e=>Object.values(e.option).join(", "),dt=class{entries;choose;menus;slot;constructor(t,i){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),this.slot=t.slot,this.group=t.group,this.span=t.span,this.least=t.least,
this.choose=i,this.entries=[],this.menus={},this.made={},this.shown=""}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){
for(let i of Object.keys(this.entries[0].option)){let s=[...new Set(this.entries.map(a=>a.option[i]))],n=u("select",{"aria-label":`${i} of t\
his picture`},...s.map(a=>u("option",{value:a},a)));n.addEventListener("change",()=>{let a=this.entry(t()).option,o=l=>Object.keys(a).filter(
c=>l.option[c]===a[c]).length,r=this.entries.filter(l=>l.option[i]===n.value);this.choose(ce(r.reduce((l,c)=>o(c)>o(l)?c:l)))}),this.menus[i]=
n,s.length>1&&this.choice.append(n)}}entry(t){return this.entries.find(i=>ce(i)===t[this.slot])??this.entries[0]}},ct=class{page;frames;tallest;constructor(t,i){
this.frames=t,this.page=i,this.tallest=new Map}tabOf({tab:t}){let{names:i,printing:s}=this.page;return s()?"All":i.includes(t)?t:i[0]}inTab(t,i){
return i==="All"||t.group===i}reads(t){return this.page.article.reads(t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<
640&&!this.page.printing()}get screen(){return this.page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,i){
let s=r=>r.reduce((l,c)=>l+c,0),n=s(i.map(r=>r.span)),a=i.map(r=>Math.ceil(12*r.least/this.page.grid.clientWidth)),o=i.map(r=>Math.max(3,Math.
round(12*r.span/n)));return o.some((r,l)=>r<a[l])&&s(a)<=12&&a.every(Boolean)&&(o=a),o[o.length-1]+=12-s(o),o[i.indexOf(t)]}arrange(t){let{page:i,
frames:s}=this,{el:n,grid:a,tabs:o,compare:r,undo:l,names:c,article:{story:d}}=i,h=i.printing(),p=n.clientWidth,f=this.tabOf(t),v=this.reads(
t),m=p>=900,w=s.filter(y=>this.inTab(y,f)),$={narrow:p<640||h,beside:m&&!h,above:!m&&!h,two:t.b,reads:v,story:d.length&&!h};for(let[y,L]of Object.
entries($))n.classList.toggle(`fv-${y}`,!!L);for(let y of[o,r,l])y.hidden=v||y===o&&c.length<2;let x=y=>a.clientWidth*this.spread(y,w)/12<y.
least;v&&(!m||t.b||w.some(x))&&(w=[w.find(y=>y.entries.some(L=>L.name===d[t.step].set?.see))??w[0]]);let j=w.reduce((y,L)=>y+L.span,0),M=f!==
"All"&&(j<=12||w.length<3)&&!t.b,O=M&&w.some(x),b=p<1e3||t.b,k=[[]],g=(y,L)=>b?12/L.length:this.spread(y,L);for(let y of w){let L=[...k.at(-1)??
[],y],F=L.some(N=>a.clientWidth*g(N,L)/12<N.least);L.length>1&&(F||L.reduce((N,ft)=>N+(b?6:ft.span),0)>12)&&k.push([]),k.at(-1)?.push(y)}let z=y=>g(
y,k.find(L=>L.includes(y))??[y]),E=p<640&&!h;for(let y of s)y.tap!==E&&(Object.assign(y,{tap:E}).about.open=!E),y.node.hidden=!w.includes(y),
v&&!m&&t.b?y.pair.tabIndex=0:y.pair.removeAttribute("tabindex"),y.node.style.gridColumn=(t.b||O)&&f!=="All"?"span 12":M?`span ${this.spread(
y,w)}`:`span ${z(y)}`}tall(t,i){let{el:s,note:n}=this.page,a=[s.clientWidth,!!i.b,this.reads(i),n.textContent].join(),o=this.tallest.get(t),
r=t.hidden?0:Math.max(t.offsetHeight,o?.place===a?o.px:0);return this.tallest.set(t,{place:a,px:r}),r}height(t,i){let{el:s,head:n,stage:a}=this.
page,o=this.page.printing(),r=x=>this.tall(x,t),{height:l,layout:c}=i.entry(t.chosen),{screen:d}=this,h=this.reads(t);if(h&&s.clientWidth<900)
return a.clientHeight-r(n)-r(i.about.firstChild)-r(i.choice)-24;let p=Object.keys(c).filter(x=>/^[xy]axis/.test(x)).length>2;if(t.b&&this.narrow)
return p?440:Math.max(230,Math.round((d-r(n)-40)/2));let f=300;if(o)return l;if(this.tabOf(t)==="All")return Math.max(f,Math.min(l,d-r(n)-40));
let v=s.closest(".jp-Notebook")?0:s.getBoundingClientRect().top+window.scrollY,m=x=>h?r(x.choice)+r(x.caption):t.b?36:80,w=24+(h?Math.max(...this.
frames.filter(x=>!x.node.hidden).map(m)):m(i)),$=d-r(n)-Math.max(w,s.clientWidth>=1e3&&v<.3*d?v+48:0);return Math.round(Math.max(f,Math.min(
t.b?440:560,$)))}};var he=e=>t=>`${e} ${t.toFixed(3)}`,fe={accuracy:e=>`accuracy ${(100*e).toFixed(1)} %`,nll:e=>`NLL ${e.toFixed(3)} nats`,ece:he("ECE"),rmse:e=>`\
RMSE ${A(e)}`},ti={...fe,accuracy:e=>`${(100*e).toFixed(1)} % right`,nll:he("NLL")},ht=class{live;list;index;fields;constructor(t,i){this.index=
t.index,this.fields=t.index.fields,this.live=i,this.list=mt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.
list.filter(i=>i.meta.method===t)}fitted(t){return this.of(t).filter(i=>!i.meta.note).map(i=>i.meta.radius).sort((i,s)=>i-s)}stops(t){let i=this.
live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(s=>s.meta.radius),...i])].sort((s,n)=>s-n)}standing(t,i){let s=this.methods.
includes(t)?t:this.methods[0],n=this.of(s);return{method:s,wanted:i,member:n[Y(n.map(a=>a.meta.radius),i)]}}get offered(){return this.methods.
map(t=>{let{label:i,unit:s}=this.of(t)[0].meta;return[t,i,this.stops(t),s,this.index.defaults[t]]})}add(t){for(let i of mt(t)){let s=this.list.
findIndex(n=>n.meta.method===i.meta.method&&n.meta.radius===i.meta.radius);s>=0&&(i.version=(this.list[s].version??0)+1),s<0?this.list.push(
i):this.list[s]=i}}ranges(t){let i={};for(let s of t.shared){let n=this.list.flatMap(a=>a.meta.ranges[t.name]?.[s]??[]);n.length&&(i[s]=[Math.
min(...n),Math.max(...n)])}return i}scores(t,i=fe){return Object.entries(i).filter(([s])=>s in this.fields).map(([s,n])=>n(t(s)))}sentence({
method:t,member:i,wanted:s},n){let a=d=>D(this.fields,i,d),o=d=>a(d)[n-1],r=i.meta.radius,l=Math.abs(r-s)>1e-6*Math.max(1,s)&&this.of(t).length>
1?`radius ${A(s)} is not fitted; shown: `:"",c=r>0?`, radius ${A(r)}${i.meta.reach??""}`:i.meta.equals?`, radius 0, which is ${i.meta.equals}`:
"";return`${l}${i.meta.label}${c}${i.meta.note??""}, ${tt(Math.min(n,i.meta.n_draws),"draw")}: `+(Number.isFinite(o("nll"))?`${this.scores(o).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(a("lambda1")[0])?`largest eigenvalue λ₁ ${A(a("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},i){let s=a=>D(this.fields,t,a)[i-1],[n]=D(this.fields,t,"lambda1");return Number.isFinite(
s("nll"))?`${this.scores(s,ti).join(", ")}, λ₁ ${A(n)}`:"diverged"}aboutDraw({member:t},i){let s=D(this.fields,t,"draw loss")[i],n=D(this.
fields,t,"draw distance")[i];return Number.isFinite(s)?` Draw ${i+1}: training loss ${A(s)}, ${A(n)} off the plane.`:""}};function Lt(e){return new Ot(e).handle}var Ot=class{a;b;draws;drawsText;compare;player;undo;copied;more;bar;said;button;bands;work;note;controls;reading;readingB;spoken;names;tabs;tabButtons;grid;head;stage;article;pending=[];hovered=null;timers={};waiting=!1;stopped=!1;busy=!1;printing=!1;placed=!1;stale=!0;frames=[];forget=()=>{};constructor({
Plotly:t,model:i,el:s,bundle:n,ask:a=null,hash:o=!1,former:r=null}){let{index:l}=n;G(l.dark),this.Plotly=t,this.model=i,this.el=s,this.index=
l,this.ask=a,this.hash=o,this.schedule=this.schedule.bind(this),this.members=new ht(n,!!(l.live&&a)),this.state=new nt(i,l,this.schedule,x=>{
["method","radius","compare","step"].some(j=>j in x)&&this.player.halt()}),r&&Object.assign(this.state,r),ae(this),oe(this);for(let x of l.figures)
this.place(x);for(let x of this.frames)x.offer(()=>this.state.all.chosen);let{grid:c,head:d,stage:h,note:p,tabs:f,compare:v,undo:m,names:w,article:$}=this;
this.layout=new ct(this.frames,{el:s,grid:c,head:d,stage:h,note:p,tabs:f,compare:v,undo:m,names:w,article:$,printing:()=>this.printing}),de(
this),this.schedule()}current(){let t=this.state.all,i=t.compare;return{...t,a:this.members.standing(t.method,t.radius),b:i&&this.members.standing(
i.method,i.radius)}}get tools(){let{Plotly:t,index:i,members:{list:s},state:n}=this;return{Plotly:t,index:i,members:s,point:(a,o)=>this.point(
a,o),choose:(a,o)=>this.choose(a,o),chosen:()=>n.all.chosen,redraw:this.schedule,replace:a=>a.light(this.lit)}}get lit(){return this.hovered??
this.state.all.picked}choose(t,i){this.state.change({chosen:{...this.state.all.chosen,[t]:i}})}place(t){let i=t.slot?this.frames.find(s=>s.slot===
t.slot&&s.group===t.group):null;i||(i=new dt(t,s=>this.choose(t.slot,s)),this.grid.append(i.node),this.frames.push(i)),i.add(t)}get pictures(){
return this.frames.flatMap(t=>Object.values(t.made))}shown(){return this.frames.filter(t=>!t.node.hidden).flatMap(t=>{let i=t.entry(this.state.
all.chosen);return["A","B"].map(s=>[s,i,t.made[i.name+s]]).filter(([,,s])=>s?.node.isConnected&&s.state)})}later(t,i,s){clearTimeout(this.timers[t]),
this.timers[t]=setTimeout(i,s)}schedule(){this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&
(this.el.isConnected?lt(this):setTimeout(this.schedule,100))}))}point(t,i){let{state:s}=this;if(t==="click"){s.change({picked:s.all.picked===
i?null:i});return}this.hovered!==i&&(this.hovered=i,rt(this,this.current()),this.mark())}mark(){this.pictures.forEach(t=>t.light(t.plot.clientWidth?
this.lit:null))}async photograph(){if(!this.el.isConnected||this.busy&&this.el.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),
1500);return}let t=await Promise.all(this.shown().slice(0,2).map(([,,i])=>i.image("png")));this.stopped||this.ask("picture",{images:t,text:this.
spoken.innerText})}get handle(){let t=s=>(...n)=>this[s](...n),{state:i}=this;return{get history(){return{past:i.past,start:i.start}},add:t(
"add"),status:t("status"),lost:t("lost"),stop:t("stop")}}add(t){this.members.add(t);for(let i of t.index.figures??[]){let s=Object.assign(this.
index.figures.find(a=>a.name===i.name),i),{made:n}=this.frames.find(a=>a.entries.includes(s));(i.data||i.layout)&&["A","B"].forEach(a=>n[s.name+
a]?.renew())}this.schedule()}status({share:t,text:i,busy:s,error:n}){this.busy=s,this.bar.value=t,this.said.textContent=i,this.button.textContent=
s?"Stop":"Run",this.bands.disabled=s,this.note.hidden=!n,this.note.textContent=n??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.
hidden=!1,this.note.textContent=t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),Object.values(this.timers).forEach(clearTimeout),
this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var Et=e=>document.getElementById(e),ue=e=>JSON.parse(Et(e).textContent??""),ei=()=>new Promise(e=>{requestAnimationFrame(()=>setTimeout(e))});
async function pe(e){let t=new Blob([U(ue(e))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function ii(){performance.mark("flatviz-start");let e=ue("flatviz-start"),t=Et("explorer"),i={get:r=>e[r],set:(r,l)=>{
e[r]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await ei();let[s,n]=await Promise.all([pe("flatviz-index"),pe("flatviz-records")]),a=document.createElement("script");a.textContent=
Et("plotly").textContent,document.head.append(a);let o={index:JSON.parse(new TextDecoder().decode(s)),buffer:_t(n)};Lt({Plotly:globalThis.Plotly,
model:i,el:t,bundle:o,hash:!0})}return $e(si);})();
