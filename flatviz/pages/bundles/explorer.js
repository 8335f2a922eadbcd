var flatvizExplorer=(()=>{var ct=Object.defineProperty;var le=Object.getOwnPropertyDescriptor;var he=Object.getOwnPropertyNames;var de=Object.prototype.hasOwnProperty;var ce=(n,t)=>{for(var e in t)ct(n,e,{get:t[e],enumerable:!0})},fe=(n,t,e,s)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of he(
t))!de.call(n,i)&&i!==e&&ct(n,i,{get:()=>t[i],enumerable:!(s=le(t,i))||s.enumerable});return n};var pe=n=>fe(ct({},"__esModule",{value:!0}),n);var Ve={};ce(Ve,{isDark:()=>et,onThemeChange:()=>st,recolored:()=>N,show:()=>Ot,start:()=>Je});function ft(n){let{index:t}=n,e=n.buffer instanceof ArrayBuffer?n.buffer:n.buffer.buffer.slice(n.buffer.byteOffset,n.buffer.byteOffset+n.buffer.
byteLength),s=t.record;return t.members.map((i,a)=>({meta:i,data:new Float32Array(e,a*s*4,s),read:new Map}))}var K=n=>Uint8Array.from(atob(n),
t=>t.charCodeAt(0));function jt(n){let t=n.length/4,e=new Uint8Array(n.length);for(let s=0;s<4;s++)for(let i=0;i<t;i++)e[4*i+s]=n[s*t+i];return e}
function Et(n,[t,...e]){if(!e.length)return Array.from(n);let s=n.length/t;return Array.from({length:t},(i,a)=>Et(n.subarray(a*s,(a+1)*s),e))}
function B(n,t,e){if(!t.read.has(e)){let{offset:s,shape:i}=n[e],a=t.data.subarray(s,s+i.reduce((r,o)=>r*o,1));t.read.set(e,Et(a,i))}return t.
read.get(e)}function pt({field:n,rows:t},e,s,i,a){let r=s.meta.words[n];if(t==="phase")return(r??B(e,s,n))[a];if(r!==void 0)return r;let o=B(
e,s,n);return t==="draws"?o.slice(0,i):t==="segments"?o.slice(0,3*i):t==="size"?o[Math.min(i,o.length)-1]:o}function Y(n,[t,...e],s){let i=Array.
isArray(n)?[...n]:{...n};return i[t]=e.length?Y(i[t]??{},e,s):s,i}function ut(n,t,e){return Array.isArray(n)&&Array.isArray(t)?t.map((s,i)=>ut(
n[i],s,e)):typeof n=="number"&&typeof t=="number"?n+e*(t-n):e<.5?n:t}function G(n,t){let e=i=>i>0?Math.log10(i):-1/0,s=i=>i===t?0:Math.abs(e(
i)-e(t));return n.reduce((i,a,r)=>s(a)<s(n[i])?r:i,0)}var ue="http://www.w3.org/1998/Math/MathML",me={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},ge=["max","min","log","KL","E"],ve=[
"∑","max","min"],be=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,T=(n,...t)=>({tag:n,inside:t});function xe(n){let t=(n.match(
be)??[]).filter(o=>o.trim()),e=0,s=()=>{let o=[];for(;e<t.length&&t[e]!=="}";)o.push(a());return e+=1,o.length===1?o[0]:T("mrow",...o)},i=()=>{
let o=t[e++]??"";if(o==="{")return s();let l=o.startsWith("\\")?o.slice(1):"";if(l==="frac")return T("mfrac",i(),i());if(l==="sqrt")return T(
"msqrt",i());if(l==="text"){let h=++e;for(;e<t.length&&t[e]!=="}";)e+=1;return{tag:"mtext",text:t.slice(h,e++).join("")}}if(ge.includes(l))return{
tag:"mo",text:l};let c=l?me[l]??l:o;return/^[0-9.]+$/.test(c)?{tag:"mn",text:c}:c.endsWith("′")?T("mrow",{tag:"mi",text:c[0]},{tag:"mo",text:"\
′"}):/^\p{L}$/u.test(c)?{tag:"mi",text:c}:{tag:c===" "?"mtext":"mo",text:c}},a=()=>{let o=i(),l={};for(;t[e]==="_"||t[e]==="^";)l[t[e++]]=
i();let{_:c,"^":h}=l,d=ve.includes(o.text??"");return c&&h?T(d?"munderover":"msubsup",o,c,h):c?T(d?"munder":"msub",o,c):h?T("msup",o,h):o},r=[];
for(;e<t.length;)r.push(a());return T("math",T("mrow",...r))}function At({tag:n,text:t,inside:e=[]}){let s=document.createElementNS(ue,n);return t&&
(s.textContent=t),t==="′"&&s.setAttribute("lspace","0"),/^[()[\]|∥]$/.test(t??"")&&s.setAttribute("stretchy","false"),s.append(...e.map(
At)),s}function _t(n){let t=At(xe(n));return t.setAttribute("display","block"),t}function u(n,t={},...e){let s=document.createElement(n);for(let[i,a]of Object.entries(t))s.setAttribute(i,a);return s.append(...e),s}var C=n=>Number(
n.toPrecision(3)).toString(),Z=(n,t)=>`${n} ${t}${n===1?"":"s"}`,H=class{method;wanted;stops;constructor(t,e){this.change=e,this.remembered=
{};let s=t?` ${t}`:"";this.letter=u("span",{class:"fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`\
method${s}`}),this.radius=u("input",{type:"range",class:"fv-radius",min:0,step:1,"aria-label":`radius${s}`}),this.text=u("output"),this.node=
u("div",{class:"fv-side"},this.letter,u("label",{},u("span",{},`method${s}`),this.select),u("label",{},u("span",{},`radius${s}`),this.radius,
this.text)),this.select.addEventListener("change",()=>{this.remembered[this.method]=this.wanted;let i=this.select.value,a=this.stopsOf(i);e(
{method:i,radius:this.remembered[i]??this.first(i)??a[Math.ceil((a.length-1)/2)]})}),this.radius.addEventListener("input",()=>e({radius:this.
stops[Number(this.radius.value)]}))}show(t,e,s,i=!1){let a=s.map(([l,,c])=>`${l}:${c.length}`).join()+t;a!==this.key&&(this.key=a,this.stopsOf=
l=>s.find(c=>c[0]===l)[2],this.first=l=>s.find(c=>c[0]===l)[4],this.select.replaceChildren(...s.map(([l,c])=>{let h=u("option",{value:l},c);
return h.selected=l===t,h}))),Object.assign(this,{method:t,wanted:e,stops:this.stopsOf(t)}),this.radius.max=Math.max(1,this.stops.length-1),
this.radius.disabled=this.stops.length<2,this.radius.value=G(this.stops,e);let r=s.find(l=>l[0]===t)[3],o=this.stops.length<2?"none":`${C(e)}\
 ${r}${e===0?" (= VI)":""}`;this.text.textContent=i?this.stops.length<2?"no radius":`radius ${C(e)}`:o,this.radius.setAttribute("aria-valuet\
ext",o)}},we=1200,ye={duration:800,easing:"cubic-in-out"},mt=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},J=class{every;next;text;constructor(t,e,{
text:s="Play",every:i=we}={}){Object.assign(this,{next:t,text:s,every:i,timer:0}),this.button=I(s,e,()=>this.timer?this.halt():this.go(!0))}get glide(){
return this.timer&&!mt.matches?ye:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.every),this.next(t)?this.button.textContent="Pause":
this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},Ct=900,ze=1900,X=class{constructor(t,e){this.player=
new J(e,"ascend, gradient there, step back, descend",{text:"Play the step",every:ze}),this.slider=u("input",{type:"range",class:"fv-phase",min:0,
step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener("input",()=>t(Number(this.slider.value))),this.
node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,this.slider,this.text)}show(t,e){if(this.
node.hidden=!t.length,!t.length)return;let[s,i]=t[e];this.slider.max=t.length-1,this.slider.value=e,this.slider.setAttribute("aria-valuetext",
`${e+1} of ${t.length}: ${s}`),this.text.replaceChildren(u("b",{},s),`: ${i}`)}};function St(n,t){let e=u("div",{}),s=u("details",{class:"fv\
-menu"},u("summary",{},n),e);for(let[i,a]of t){let r=u("button",{type:"button"},i);r.addEventListener("click",()=>{s.open=!1,a()}),e.append(
r)}return s.addEventListener("keydown",i=>{i.key==="Escape"&&(s.open=!1,s.firstChild.focus())}),s.addEventListener("focusout",i=>{i.relatedTarget&&
!s.contains(i.relatedTarget)&&(s.open=!1)}),s}function I(n,t,e){let s=u("button",{type:"button",title:t},n);return s.addEventListener("click",
e),s}var ke={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"negative\
 log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the share o\
f right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler divergence: ho\
w far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function Tt(n){let t=new Set,e=s=>s.
split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((i,a)=>a%2===0||t.has(i)?i:(t.add(i),u("abbr",{title:ke[i],tabindex:0},i)));return n.split(`
`).filter(Boolean).map(s=>s.startsWith("= ")?u("p",{class:"fv-equation"},_t(s.slice(2))):u("p",{},...s.split("**").flatMap((i,a)=>a%2?u("b",
{},...e(i)):e(i))))}async function Q(n){let t=new Image;return t.src=n,await t.decode(),t}function gt(n,t){let e=u("a",{href:n,download:t});
document.body.append(e),e.click(),e.remove()}var tt=class{page;story;constructor(t,e){Object.assign(this,{story:t,page:e,explored:null,rest:0}),this.sections=t.map(s=>u("section",{},u("\
h2",{},s.title),...Tt(s.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:e}=this,s=e+.45*(window.innerHeight-e),i=Math.
max(0,t.findLastIndex(a=>a.getBoundingClientRect().top<s));return i<t.length-1?i:-1}follow(){let{page:{state:t,resting:e},story:s}=this,i=this.
inSight(),a=t.all;if(e()||i===a.step)return;a.step<0&&(this.explored=a);let{method:r,radius:o,n_draws:l}=t.start;t.acted({step:i}),t.put(i<0&&
this.explored||{method:r,radius:o,n_draws:l,...s.at(i).set,step:i})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Nt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function Bt(n){for(let[t,e]of Object.
entries(n))Nt[t]??=e}function et(){let{body:n,documentElement:t}=document;return n.dataset.jpThemeLight?n.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function N(n){return typeof n=="string"?n.length<4?n:n.replace(
/#(?:[0-9a-f]{6}|fff)\b/gi,t=>Nt[t.toLowerCase()]??t):Array.isArray(n)?typeof n[0]=="number"?n:n.map(N):n===null||typeof n!="object"||ArrayBuffer.
isView(n)?n:Object.fromEntries(Object.entries(n).map(([t,e])=>[t,t==="colorscale"||t==="bdata"?e:N(e)]))}function st(n){let t=matchMedia("(p\
refers-color-scheme: dark)"),e=new MutationObserver(n);return e.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
e.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",n),()=>{e.disconnect(),t.removeEventListener(
"change",n)}}var $e=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,Dt=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
Pt={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},vt=["contour","heatmap"];function it(n,t){return Array.
isArray(n)&&Array.isArray(t)?n.length===t.length&&n.every((e,s)=>it(e,t[s])):Object.is(n,t)}function Ft(n,t,e){let s=t.split("."),i=s.pop();
s.reduce((a,r)=>a[r],n)[i]=e}function bt(n,t,e,s,i){let a=[],r={};for(let[h,d]of e){let[,f,p]=h.match($e)??[];if(f!==void 0&&Array.isArray(d)&&
Number.isInteger(t._fullData?.[f]?.index))a.push([Number(f),p,d]);else if(Dt.test(h))r[h]=d;else return!1}let o=[...new Set(a.map(([h])=>h))].
filter(h=>t._fullData[h].visible===!0);if(!o.every(h=>Oe(t,t._fullData[h])))return!1;for(let[h,d,f]of a)Ft(t.data[h],d,f),o.includes(h)&&Ft(
t._fullData[h],d,f);if(!o.every(h=>Le(t,h)))return!1;Me(n,t,r);let l=new Set(o.map(h=>`${t._fullData[h].type} ${q(t._fullData[h])}`));return new Set(
[...l].map(h=>Ee(t,i?null:o,...h.split(" "),s))).forEach(h=>h?.style(t)),!0}function Me(n,t,e){let s={};for(let[i,a]of Object.entries(e)){let[
,r,o,l]=i.match(Dt);t.layout[r][o][l]=a,s[`${r}[${o}].opacity`]=t.layout[r][o].opacity??1}Object.keys(s).length&&n.relayout(t,s)}var q=n=>n.
xaxis+n.yaxis;function Oe(n,t){let e=n._fullLayout?._plots?.[q(t)],s=Pt[t.type];if(!e||!s||t.zorder||!n.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:i,plot:a,style:r}=t._module;return[i,a,r].every(o=>typeof o=="function")&&!e.plot.select(`.${s}`).empty()}function Le(n,t){let e=n.
_fullData[t],{t:s}=n.calcdata[t][0],i=n._fullLayout._plots[q(e)],a=[i.xaxis,i.yaxis].filter(c=>c.autorange),r=()=>vt.includes(e.type)||a.every(
c=>je(n,e,c)),o=r();vt.includes(e.type)||(e._length=Math.min(e.x.length,e.y.length));let l=e._module.calc(n,e);return l[0].trace=e,l[0].t={...s,
...l[0].t},n.calcdata[t]=l,o&&r()}function je(n,t,e){let i=n._fullData.find(h=>vt.includes(h.type)&&h.visible===!0&&q(h)===q(t))?._extremes?.[e.
_id],a=t._extremes?.[e._id];if(!i?.min?.length||!a)return!1;let r=Math.abs(e.range[1]-e.range[0])/e._length,o=Math.min(...i.min.map(h=>h.val)),
l=Math.max(...i.max.map(h=>h.val)),c=({pad:h,extrapad:d})=>r*(h+(d?e._length/20:0));return a.min.every(h=>h.val-c(h)>=o)&&a.max.every(h=>h.val+
c(h)<=l)}function Ee(n,t,e,s,i){let a=n._fullLayout._plots[s],r=n.calcdata.filter(([{trace:d}])=>d?.type===e&&d.visible===!0&&d._length!==0&&
q(d)===s),{_module:o}=r[0][0].trace,l=a.plot.select(`.${Pt[e]}`);if(o.crossTraceCalc?.(n,a),r.forEach(Ae),e!=="scatter")return o.plot(n,a,r,
l),o;let h=l.selectAll("g.trace").size()===r.length&&t&&!i&&r.every(([{trace:d}])=>!/^tonext/.test(d.fill)&&!d.stackgroup);return h?r.filter(
([{trace:d}])=>t.includes(d.index)).forEach(d=>o.plot(n,a,[d],l,{duration:0})):o.plot(n,a,r,l,i),a.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),h&&!r.some(([{trace:d}])=>d.error_y?.visible||d.error_x?.visible)?null:o}function Ae(n){let{error_y:t}=n[0].trace;t?.visible&&
n.forEach((e,s)=>{let i=e.i??s,a=t.array[i],r=(t.symmetric?t.array:t.arrayminus)[i];Number.isFinite(e.y)&&Number.isFinite(a)&&Number.isFinite(
r)&&Object.assign(e,{yh:e.y+a,ys:e.y-r})})}function xt(n){for(let{plot:t}of Object.values(n._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var F=n=>n.margin?.t??n.template.layout.margin.t;function Rt({layout:n,data:t},e,s,i){if(!n.yaxis?.scaleanchor||n.xaxis2)return null;let[a,r]=[
"xaxis","yaxis"].map(d=>e[d]??n[d].range),o=t.some(d=>d.colorbar)?130:20,l=a&&r?(a[1]-a[0])/(r[1]-r[0]):1,c=_e({data:t,layout:n}).reduce((d,f)=>d+
44+7.2*f.length,0),h=Math.min(s-60-o-(i-F(n)-92)*l,s-60-o-c)/2;return h<8?null:{margin:{...n.margin,t:F(n),l:60+h,r:o+h}}}function Wt(n,t){let e=[
"",2,3,4].filter(o=>n[`xaxis${o}`]),s=e.length>1&&e.every(o=>!n[`yaxis${o}`].domain);if(t>=460||!s)return n;let i=.1,a=(1-i*(e.length-1))/e.
length,r={};return e.forEach((o,l)=>{let c=1-l*(a+i),h=l===e.length-1;r[`xaxis${o}`]={...n[`xaxis${o}`],domain:[0,1],showticklabels:h,title:h?
n[`xaxis${o}`].title:""},r[`yaxis${o}`]={...n[`yaxis${o}`],domain:[Math.max(0,c-a),c],showticklabels:!0,nticks:4,title:l===1?n.yaxis.title:""}}),
{...n,...r,margin:{...n.margin,t:58}}}function _e({data:n,layout:t}){return t.showlegend===!1?[]:n.filter(e=>e.mode&&e.name&&e.showlegend!==
!1&&e.visible!==!1).map(e=>e.name)}function It({data:n,layout:t},e,s){let i=s-(t.margin?.t??76)-(t.margin?.b??92),a=p=>({...p,title:{...p.title,
font:{...p.title.font,size:Math.max(10,Math.min(15,i/(.54*p.title.text.length)))}}}),r=n.map(p=>p.colorbar?.title?.text?{...p,colorbar:a(p.colorbar)}:
p),{scene:o}=t,l=460/e;for(let p of Object.keys(t).filter(b=>/^[xy]axis\d*$/.test(b))){let b=t[p],[v,m]=b.domain??[0,1],k=p[0]==="y"?i:e-60,
[w]=(b.title?.text??"").split("<br>"),M=k*(m-v)/(.54*w.replace(/<[^>]*>/g,"").length);M<15&&(t={...t,[p]:{...b,title:{...b.title,font:{...b.
title.font,size:Math.max(9,M)}}}})}if(!o?.camera||l<=1)return{data:r,layout:t};let c=Object.fromEntries(Object.entries(o.camera.eye).map(([p,
b])=>[p,b*l**.7])),h=({title:p})=>p.text.replace(/ of [^)]*\)/,")"),d=(p,b)=>({...p,title:{...p.title,text:b,font:{size:10}},tickfont:{size:9}}),
f={xaxis:d(o.xaxis,h(o.xaxis)),yaxis:d(o.yaxis,h(o.yaxis)),zaxis:d(o.zaxis,"")};return{data:r,layout:{...t,scene:{...o,...f,camera:{...o.camera,
eye:c}}}}}var Ce=matchMedia("(pointer: coarse)"),U=class{entry;tools;state;scene;revision;member;constructor(t,e,s){Object.assign(this,{entry:t,tools:s,
state:"",width:0,revision:0,glides:0}),this.mark=u("span",{class:"fv-letter",hidden:""},e),this.plot=u("div",{role:"group"}),this.node=u("di\
v",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,e,{height:s,most:i=1/0,width:a=this.plot.clientWidth,dark:r,phone:o=!1,ranges:l,
transition:c,at:h=0}){let{entry:d,plot:f,tools:p}=this,{index:b,Plotly:v}=p,m=a<460&&Se(d,a,o);if(this.narrow=!!m&&o,d.layout.yaxis?.scaleanchor&&
!d.layout.xaxis2){let{t:g,b:z,l:P,r:_}=m?.margin??{},R=m?g+z+a-P-_-(d.phases.length?0:66):F(d.layout)+a-100;s=Math.round(m?Math.min(R,Math.max(
i,g+z+85)):Math.max(300,Math.min(s,R)))}if(d.layout.yaxis?.scaleanchor&&d.layout.xaxis2&&!m){let g=Object.keys(d.layout).filter(z=>/^xaxis\d*$/.
test(z)).length;s=Math.round(Math.max(300,Math.min(s,F(d.layout)+(a-160)/g+70)))}m&&d.phases.length&&(l=this.low(l,(s-m.margin.t-m.margin.b)/
(a-m.margin.l-m.margin.r),e));let k=m||Rt(d,l,a,s),w=d.binds.some(g=>g.rows!=="all"&&g.rows!=="phase"),M=[k&&a,r,s,JSON.stringify(l)].join("\
/"),O=[M,t.meta.method,t.meta.radius,t.version??0,w?e:""].join("/"),L=`${O}/${h}`;if(this.state===L)return this.resize(a),!1;let x=!this.state,
y=d.binds.map(g=>pt(g,b.fields,t,e,h));if(this.place===O&&!mt.matches)return this.slide(y,{state:L,at:h,dark:r}),!1;this.place=O,d.phases.length&&
(f.dataset.phase=h);let j=x||this.scene!==M?null:d.binds.flatMap(({path:g},z)=>it(y[z],this.values[z])?[]:[[g,r?N(y[z]):y[z]]]);Object.assign(
this,{state:L,scene:M,member:t,values:y});let E=performance.now()<this.glides;if(E&&xt(f),this.glides=c?performance.now()+c.duration+100:0,j&&
bt(v,f,j,c,E))return this.resize(a),this.spread(),!0;let $={data:d.data,layout:{...d.layout,height:s,uirevision:"kept",datarevision:++this.revision}};
d.binds.forEach((g,z)=>{$=Y($,g.path.split("."),y[z])});for(let[g,z]of Object.entries(l))$=Y($,["layout",g,"range"],z);return k&&($.layout={
...$.layout,margin:k.margin}),$.layout=Wt($.layout,a),$=It($,a,s),m&&($.data=Ht($.data).map(g=>Ne(g,d))),this.print=m?Be($.layout):"",m&&($.
layout=Fe({...$.layout,...Te($,a)},d,o)),Ce.matches&&($.layout.dragmode=!1),r?$={data:N($.data),layout:N($.layout)}:$={data:$.data.map(g=>({
...g})),layout:$.layout},this.width=a,f.style.height=`${s}px`,v.react(f,$.data,$.layout,b.config),x?this.listen():f._fullLayout.width!==a&&v.
Plots.resize(f),this.spread(),!0}low(t,e,s){let{entry:i,tools:a}=this,[r,o]=["xaxis","yaxis"].map(d=>t[d]??i.layout[d].range),l=(o[0]+o[1])/
2,c=i.binds.filter(({path:d})=>d.endsWith(".y")),h=e*(r[1]-r[0])/2;for(let d of c)for(let f of a.members)for(let p of i.phases.keys())for(let b of pt(
d,a.index.fields,f,s,p))h=Math.max(h,1.06*Math.abs(b-l)||0);return h<o[1]-l?{...t,yaxis:[l-h,l+h]}:t}slide(t,{state:e,at:s,dark:i}){let{entry:a,
plot:r,tools:o}=this,l=this.values,c=performance.now(),h=c<this.glides;h&&xt(r),Object.assign(this,{state:e,glides:0}),delete r.dataset.phase;
let d=()=>{if(this.state!==e)return;let f=Math.min(1,(performance.now()-c)/Ct),p=f*f*(3-2*f),b=t.map((k,w)=>a.binds[w].rows==="phase"?ut(l[w],
k,p):k),v=a.binds.flatMap(({path:k},w)=>it(b[w],this.values[w])?[]:[[k,i?N(b[w]):b[w]]]);this.values=b;let m=r.clientWidth&&bt(o.Plotly,r,v,
void 0,h);h=!1,m?f<1?requestAnimationFrame(d):(r.dataset.phase=s,this.spread()):(this.renew(),o.redraw())};requestAnimationFrame(d)}spread(){
if(!this.entry.phases.length)return;let{left:t,right:e,top:s,bottom:i}=this.plot.querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.
getBoundingClientRect()??{},a=[];for(let r of this.plot.querySelectorAll(".scatterlayer .textpoint")){r.style.transform="";let o=r.getBoundingClientRect();
if(!o.width)continue;let l=([d,f])=>({left:o.left+d,right:o.right+d,top:o.top+f,bottom:o.bottom+f}),c=d=>{let f=l(d);return f.left>t&&f.right<
e&&f.top>s&&f.bottom<i&&a.every(p=>f.right<p.left||f.left>p.right||f.bottom<p.top+3||f.top>p.bottom-3)},h=[0,14,26,40].flatMap(d=>[[0,-d],[0,
d],[d,0],[-d,0],[d,-d],[-d,-d],[d,d],[-d,d]]).find(c);r.style.visibility=h?"":"hidden",h&&(r.style.transform=`translate(${h[0]}px, ${h[1]}px\
)`,a.push(l(h)))}}renew(){this.state&&Object.assign(this,{state:"elsewhere",scene:"",place:""})}describe(t){this.plot.setAttribute("aria-lab\
el",t)}resize(t=this.plot.clientWidth){let e=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(e-t)<2||(this.width=t,
this.tools.Plotly.Plots.resize(this.plot))}listen(){let t=s=>this.drawOf(s.points?.[0]),e=s=>i=>{let a=t(i);a!==null&&this.tools.point(s,a)};
this.plot.on("plotly_hover",e("hover")),this.plot.on("plotly_click",e("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),
this.plot.on("plotly_relayout",()=>this.tools.replace(this))}drawOf(t){if(!t)return null;let{link:e}=this.entry,s=e[t.data.name];return s===
"draws"?t.pointNumber:s==="eigenvalues"?Math.floor(t.pointNumber/this.perDraw(t.data)):e.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.
max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){this.rings.forEach(o=>o.remove()),this.rings=[];let e=this.plot._fullLayout;
if(t===null||!this.state||!e)return;let s=(o,l)=>{let c=u("div",{class:o,style:Object.entries(l).map(([h,d])=>`${h}:${d.toFixed(1)}px`).join(
";")});this.rings.push(c),this.node.append(c)},{link:i}=this.entry,a=this.plot.offsetTop,r=this.plot.offsetLeft;for(let o of this.plot._fullData){
let l=i[o.name],c=e[Ut(o.xaxis??"x")],h=e[Ut(o.yaxis??"y")];if(!l||!c?.d2p||!o.x)continue;let d=l==="draws"?1:this.perDraw(o);for(let f=t*d;f<
(t+1)*d&&f<o.x.length;f++){let p={left:r+c._offset+c.d2p(o.x[f]),top:a+h._offset+h.d2p(o.y[f])};Number.isFinite(p.left)&&Number.isFinite(p.top)&&
s("fv-ring",p)}}if(i.x==="sizes"&&e.xaxis?.d2p){let{t:o,h:l}=e._size;s("fv-rule",{left:r+e.xaxis._offset+e.xaxis.d2p(t+1),top:a+o,height:l})}}image(t,e=1){
let{width:s,height:i}=this.plot._fullLayout;return this.tools.Plotly.toImage(this.plot,{format:t,width:s,height:i,scale:e})}};function Se({data:n,
layout:t,phases:e},s,i){let a=Math.max(0,F(t)-76)+(t.annotations?.some(o=>o.yref==="paper"&&o.y>=1)?16:0),r=(i?12:36)+Math.min(34,a)+17*Kt({
data:Ht(n),layout:t},s).length;return{margin:{...t.margin,...e.length?{t:r,b:8,l:8,r:8}:{t:r,b:48,l:s<240?40:50,r:12}}}}function Kt({data:n,
layout:t},e){if(t.showlegend===!1)return[];let s=[],i=0;for(let{name:a,mode:r,marker:o,line:l,showlegend:c,visible:h}of n){if(!r||!a||c===!1||
h===!1)continue;let d=/markers/.test(r)&&typeof o?.color=="string"?o.color:l?.color??"#1f2933",f=26+6.6*a.length,p=/markers/.test(r)?/cross/.
test(o?.symbol)?"✚":"●":"–";f>i&&(s.push([]),i=e-24),i-=f,s.at(-1).push(`<span style="color:${d}">${p} ${a}</span>`)}return s.map(a=>a.
join("   "))}function Te(n,t){let e=Kt(n,t),{annotations:s=[],margin:i}=n.layout;if(!e.length)return{};let a={x:0,y:1,xref:"paper",yref:"pap\
er",xanchor:"left",yanchor:"bottom",xshift:8-i.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...s,{...a,text:e.join(
"<br>"),font:{size:11}}]}}var qt=n=>n.type==="scatter"&&/lines/.test(n.mode)&&n.name?.length<11;function Ht(n){if(n.some(s=>s.type==="scatte\
r"&&s.mode==="markers"&&s.visible!==!1))return n;let t=n.filter(s=>qt(s)&&s.showlegend!==!1&&s.visible!==!1).length,e=0;return n.map(s=>{if(!qt(
s)||s.showlegend===!1||s.visible===!1)return s;let i=s.y?.length??atob(s.y?.bdata??"").length/Number(s.y?.dtype?.[1]??8),a=i>2&&i<60?Math.max(
0,i-1-e++*Math.max(1,Math.floor(i/t))):i-1,r=Array.from({length:i},(o,l)=>l===a?s.name:"");return{...s,showlegend:!1,mode:`${s.mode}+text`,text:r,
textposition:i<60?"top left":"top center",textfont:{size:12,color:s.line?.color},cliponaxis:!1}})}function Ne(n,{phases:t}){return n.colorbar?
t.length?{...n,showscale:!1}:{...n,colorbar:{...n.colorbar,thickness:9,xpad:4,tickfont:{size:10},title:{...n.colorbar.title,font:{size:10.5}}}}:
n}var Be=({xaxis:n})=>{let[,...t]=(n?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};
function Fe(n,{phases:t},e){let[,...s]=(n.title?.text??"").split("<br>"),i={...n.title,text:e?s.join("<br>"):n.title?.text,font:{...n.title?.
font,size:12}},a=h=>Math.max(...h.split("<br>").map(d=>d.length)),r=n.annotations?.map(h=>({...h,font:{...h.font,size:a(h.text??"")>54?8.5:10}})),
o={...n.legend,font:{...n.legend?.font,size:11}},{xaxis:l}=n,c=l?.title?.text?.split("<br>")[0];if(t.length)for(let h of["xaxis","yaxis"])n=
{...n,[h]:{...n[h],title:{text:""},showticklabels:!1,ticks:"",automargin:!1}};return{...n,title:i,legend:o,...c&&!t.length?{xaxis:{...l,title:{
...l.title,text:c}}}:{},...r?{annotations:r}:{}}}var Ut=n=>`${n[0]}axis${n.slice(1)}`;var De=40,Pe=450;async function yt(n,t){for(let[e,s,i]of n){let{method:a,radius:r}=i.member.meta;gt(await i.image(t,t==="png"?2:1),["flatviz",
s.name,a,r||"",e==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function Jt({el:n,state:t,member:e,radii:s,shown:i}){let a=t.all,{method:r,
label:o}=e.meta,l=[];for(let O of s){for(t.put({...a,radius:O});n.dataset.state!==`${r}/${O}/${a.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:O,images:await Promise.all(i().map(async([,,L])=>Q(await L.image("png"))))})}t.put(a);let c=Math.max(...l.map(({images:O})=>O.
reduce((L,x)=>L+x.width,0))),h=Math.max(...l.flatMap(({images:O})=>O.map(L=>L.height))),d=u("canvas",{width:c+c%2,height:h+De+h%2}),f=d.getContext(
"2d"),{color:p,backgroundColor:b,fontFamily:v}=getComputedStyle(n),m=[],k=["video/mp4","video/webm"].find(O=>MediaRecorder.isTypeSupported(O)),
w=new MediaRecorder(d.captureStream(),{mimeType:k,videoBitsPerSecond:4e6}),M=new Promise(O=>{w.addEventListener("stop",O)});w.addEventListener(
"dataavailable",({data:O})=>m.push(O)),w.start();for(let{radius:O,images:L}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(f,{fillStyle:b,
font:`600 18px ${v}`}),f.fillRect(0,0,d.width,d.height),L.reduce((x,y)=>(f.drawImage(y,x,0),x+y.width),0),f.fillStyle=p,f.fillText(`${o}, ra\
dius ${O}`,14,d.height-14),await new Promise(x=>{setTimeout(x,Pe)});w.stop(),await M,gt(URL.createObjectURL(new Blob(m,{type:k})),`flatviz-${r}\
-radius.${k.slice(6)}`)}function Vt(n,t,{n_draws:e,phase:s}){let i=n.filter(([,a])=>a.kind==="plotly").map(([,a,{member:{meta:r}}])=>{let l=a.
phases.length&&s!==null?`, phase=${JSON.stringify(t.phases[Math.min(s,t.phases.length-1)])}`:"";return`fv.widgets.plot_view(family, ${JSON.stringify(
a.name)}, method=${JSON.stringify(r.method)}, radius=${r.radius}, n_draws=${e}${l})`});return["import flatviz as fv","",...t.code??[],...i].
join(`
`)}var at=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,e){
let{node:s}=this;s.hidden=!1,s.value=t,s.select(),navigator.clipboard?.writeText(t).then(()=>s.setAttribute("aria-label",`${e}, copied`),()=>{});
let i=a=>{a.target!==s&&(s.hidden=!0,document.removeEventListener("pointerdown",i))};document.addEventListener("pointerdown",i)}};var Re=255,We=254;function Yt(n){if(!n.images){let{pool:t,labels:e,shown:s,nats:i,n_draws:a,classes:r,probs:o}=n.meta.images,l=K(o);n.images=
{classes:r,kept:c=>Math.min(c,a),prob(c,h,d){let f=l[(c*t.length+h)*r.length+d];return f===Re?NaN:f/We},of:c=>s[c-1].map((h,d)=>({place:h,row:t[h],
label:e[h],nats:i[c-1][d]}))}}return n.images}var zt=new WeakMap;function Ie(n,...t){for(let e of t){let s=e?.rows?.indexOf(n)??-1;if(s<0)continue;
zt.has(e)||zt.set(e,{bytes:K(e.pixels),urls:new Map});let{bytes:i,urls:a}=zt.get(e),[r,o,l=1]=e.shape;if(!a.has(n)){let c=u("canvas",{width:o,
height:r}),h=c.getContext("2d"),d=h.createImageData(o,r);for(let f=0;f<r*o;f++){for(let p=0;p<3;p++)d.data[4*f+p]=i[s*r*o*l+f*l+(l>1?p:0)];d.
data[4*f+3]=255}h.putImageData(d,0,0),a.set(n,c.toDataURL())}return a.get(n)}return""}function A(n,t={},...e){let s=document.createElementNS(
"http://www.w3.org/2000/svg",n);for(let[i,a]of Object.entries(t))s.setAttribute(i,a);return s.append(...e),s}var Gt=12,kt=(n,t)=>n.length>t?
`${n.slice(0,Math.max(1,t-1))}…`:n,qe=n=>`${(100*n).toFixed(0)} %`,nt=class extends U{chosen;n;height;dark;constructor(t,e,s){super(t,e,s),
this.lit=this.pointed=null;let i=r=>r.target.closest?.("[data-row]"),a=r=>r.target.closest?.("[data-chart]");this.plot.addEventListener("poi\
ntermove",r=>{let o=i(r);o?this.show(Number(o.dataset.row)):a(r)&&this.point("hover",r)}),this.plot.addEventListener("pointerleave",()=>{this.
show(null),this.tools.point("hover",null)}),this.plot.addEventListener("click",r=>{let o=i(r);o?this.tools.choose("image",o.dataset.row):a(r)&&
this.point("click",r)}),this.plot.addEventListener("keydown",r=>{let o=i(r);o&&(r.key==="Enter"||r.key===" ")&&(r.preventDefault(),this.tools.
choose("image",o.dataset.row))}),this.plot.addEventListener("focusin",r=>{let o=i(r);o&&!this.painting&&this.show(Number(o.dataset.row))})}draw(t,e,{
height:s,width:i=this.plot.clientWidth,dark:a}){let{tools:r}=this,o=r.chosen().image??"",l=[i,t.meta.method,t.meta.radius,t.version??0,e,a,s,
o].join("/");return this.state===l?!1:(o!==this.chosen&&(this.pointed=null),Object.assign(this,{state:l,member:t,n:e,height:s,dark:a,chosen:o,
width:i}),this.paint(),!0)}resize(){!this.state||!this.plot.clientWidth||this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,
this.paint())}light(t){this.lit===t||!this.state||(this.lit=t,this.paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,
this.paint())}point(t,e){let{left:s,top:i}=this.plot.firstChild.getBoundingClientRect(),{x:a,y:r,step:o,items:l}=this.chart,c=Math.max(0,Math.
min(l.classes.length-1,Math.floor((e.clientX-s-a(0)+o/2)/o))),h=f=>{let p=l.prob(f,this.now.place,c);return Number.isFinite(p)?Math.abs(r(p)-
(e.clientY-i)):1/0},d=Array.from({length:l.kept(this.n)},(f,p)=>p).reduce((f,p)=>h(p)<h(f)?p:f,0);h(d)<14?this.tools.point(t,d):t==="hover"&&
this.tools.point("hover",null)}paint(){let{plot:t,member:e,n:s,width:i,height:a,dark:r}=this;if(!i)return;let o=Yt(e),l=o.of(s),c=i>=620;this.
ink=r?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffff\
ff",mark:"#b84a00"};let h=[this.pointed,Number(this.chosen||NaN)].find(x=>l.some(y=>y.row===x))??l[0].row;this.now=l.find(x=>x.row===h);let d=document.
activeElement,f=t.contains(d)?d.dataset.row:null,p=A("svg",{width:i,height:a,viewBox:`0 0 ${i} ${a}`,"font-size":12,"font-family":"system-ui\
, sans-serif",fill:this.ink.ink});p.append(A("rect",{width:i,height:a,fill:this.ink.paper}));let b=c?{left:8,top:34,width:.52*i-16,height:a-
40}:{left:6,top:30,width:i-12,height:.54*a-30},v=c?.48*i-62:i-52,m=Math.min(Gt,Math.max(...o.classes.map(x=>x.length))),k=v/o.classes.length<
7*m,w=k?34+4.3*m:36,M=c?{left:.52*i+46,top:58,width:v,height:a-82-w,turned:k,foot:w}:{left:40,top:.54*a+50,width:v,height:.46*a-60-w,turned:k,
foot:w},O=(x,y,j,E=15)=>p.append(A("text",{x:y,y:j,"font-size":E},x)),L=o.kept(s)===1?"it is least sure":"the draws disagree most";O(c&&o.kept(
s)>1?`Images on which ${L}`:`Where ${L}`,b.left+(this.mark.hidden?4:18),22),l.forEach((x,y)=>p.append(this.tile(o,x,y,l.length,b))),p.append(
this.probabilities(o,M)),t.style.height=`${a}px`,t.replaceChildren(p),this.painting=!0,f&&t.querySelector(`[data-row="${f}"]`)?.focus(),this.
painting=!1,this.drawn={rows:l.map(x=>x.row),row:h},this.name()}describe(t){this.words=t,this.name()}name(){if(!this.now||!this.words)return;
let{classes:t,of:e}=Yt(this.member),s=e(this.n).map(i=>t[i.label]).join(", ");this.plot.setAttribute("aria-label",`${this.words} Labels of t\
he images: ${s}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{place:e,row:s,label:i,nats:a},r,o,{left:l,top:c,
width:h,height:d}){let p=Math.ceil(o/4),b=h/4,v=Math.min(b-10,d/p-48),m=v+48,k=l+r%4*b+(b-v)/2,w=c+Math.floor(r/4)*m,{member:M,tools:O,lit:L,
n:x,ink:y}=this,j=t.kept(x),{classes:E}=t,$=new Map;for(let S=0;S<j;S++){let W=this.best(t,S,e);$.set(W,($.get(W)??0)+1)}let g=[...$].sort((S,W)=>W[1]-
S[1]),z=L!==null&&L<j?this.best(t,L,e):null,P=z===null?g.map(([S,W])=>`${E[S]??"none"}${j>1?`×${W}`:""}`).join(" "):`${b>110?`draw ${L+1}: `:
""}${E[z]??"none"}, ${qe(t.prob(L,e,z))}`,_=Math.floor((b-8)/6.9),R=kt(P,_),V=a.toFixed(2),ae=[`${E[i]} · ${V} nats`,`${E[i]} · ${V}`].find(
S=>S.length<=_)??`${kt(E[i],_-V.length-3)} · ${V}`,Lt=`test image ${s}, label ${E[i]}, disagreement ${a.toFixed(2)} nats; answers ${P}`,ne=A(
"image",{x:k,y:w,width:v,height:v,href:Ie(s,M.meta.images,O.index.images),style:"image-rendering:pixelated"}),oe={x:k-1,y:w-1,width:v+2,height:v+
2,fill:"none"},dt=this.now.row===s,re=z!==null&&z!==i;return A("g",{"data-row":s,role:"button",tabindex:0,"aria-label":Lt,"aria-pressed":dt,
style:"cursor:pointer"},A("title",{},Lt),ne,A("rect",{...oe,stroke:dt?y.mark:y.line,"stroke-width":dt?3:1}),A("text",{x:k+v/2,y:w+v+16,"text\
-anchor":"middle"},ae),A("text",{x:k+v/2,y:w+v+32,"text-anchor":"middle","font-size":11.5,class:"fv-said","font-weight":z===null?400:600,fill:z===
null?y.soft:re?y.mark:y.ink},R))}best(t,e,s){let i=NaN,a=-1;return t.classes.forEach((r,o)=>{let l=t.prob(e,s,o);l>a&&([i,a]=[o,l])}),i}probabilities(t,{
left:e,top:s,width:i,height:a,turned:r,foot:o}){let{now:l,n:c,ink:h,lit:d}=this,{classes:f}=t,p=t.kept(c),b=i/f.length,v=x=>e+(x+.5)*b,m=x=>s+
(1-x)*a;this.chart={x:v,y:m,step:b,items:t};let k=A("g",{"data-chart":l.row}),w=(x,y)=>k.append(A("text",y,x));k.append(A("rect",{x:e,y:s,width:i,
height:a,fill:"transparent"}));for(let x of[0,.25,.5,.75,1])k.append(A("line",{x1:e,x2:e+i,y1:m(x),y2:m(x),stroke:h.line})),w(x,{x:e-6,y:m(x)+
4,"text-anchor":"end",fill:h.soft});let{color:M}=this.member.meta.images;f.forEach((x,y)=>{let j=Array.from({length:p},($,g)=>t.prob(g,l.place,
y)).reduce(($,g)=>$+g,0)/p;Number.isFinite(j)&&k.append(A("rect",{class:"fv-mean",x:v(y)-.36*b,y:m(j),width:.72*b,height:j*a,fill:M,"fill-op\
acity":this.dark?.6:.35}));let E={x:v(y),y:s+a+16,"text-anchor":r?"end":"middle","font-weight":y===l.label?700:400};w(kt(x,Gt),r?{...E,transform:`\
rotate(-40 ${v(y)} ${s+a+16})`}:E)});let O=x=>f.map((y,j)=>[v(j),m(t.prob(x,l.place,j))]).filter(([,y])=>Number.isFinite(y)).map(y=>y.map(j=>j.
toFixed(2)).join(",")).join(" "),L=(x,y)=>k.append(A("polyline",{"data-draw":x,points:O(x),fill:"none","stroke-linejoin":"round",...y}));for(let x=0;x<
p;x++)L(x,{stroke:this.dark?h.ink:M,"stroke-width":1.2,"stroke-opacity":.55});return d!==null&&d<p&&L(d,{stroke:h.mark,"stroke-width":3.5}),
w(`Test image ${l.row}, label ${f[l.label]}`,{x:e-30,y:s-36,"font-size":15}),w(p===1?"one draw: its probabilities":`bars: mean of ${p} draws\
; lines: single draws${d!==null&&d<p?`; thick: draw ${d+1}`:""}`,{x:e-30,y:s-16,fill:h.soft}),w("class (bold: the label)",{x:e+i/2,y:s+a+o,"\
text-anchor":"middle",fill:h.soft}),k}async image(t,e=1){let{width:s,height:i}=this,a=this.plot.firstChild.cloneNode(!0);a.setAttribute("xml\
ns","http://www.w3.org/2000/svg");let r=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(a))}`;if(t==="svg")return r;
let o=await Q(r),l=u("canvas",{width:s*e,height:i*e});return l.getContext("2d").drawImage(o,0,0,l.width,l.height),l.toDataURL("image/png")}};function Xt(n){n.dataset.lmSuppressShortcuts="true";let t=e=>{!e.ctrlKey&&!e.metaKey&&!e.altKey&&!(e.shiftKey&&e.key==="Enter")&&e.stopPropagation()};
return n.addEventListener("keydown",t),()=>n.removeEventListener("keydown",t)}var $t={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},ot=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:e,
members:s},i,a){Object.assign(this,{model:t,most:e,methods:s.map(r=>r.method),changed:i,acted:a,past:[],last:"",when:0}),this.start=this.all}get all(){
let{model:t}=this,e=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:e,...$t,...t.
get("look")??{}}}change(t){let e=Object.keys(t).join(),s=Date.now();(e!==this.last||s-this.when>700)&&this.past.push(this.all),this.past.length>
100&&this.past.shift(),Object.assign(this,{last:e,when:s}),this.acted(t),this.put({...this.all,...t})}put({method:t,radius:e,n_draws:s,...i}){
let a=Object.fromEntries(Object.keys($t).map(r=>[r,i[r]??$t[r]]));for(let[r,o]of Object.entries({method:t,radius:e,n_draws:s,look:a}))this.model.
set(r,o);this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put({...this.past.pop(),
step:this.all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:e,n_draws:s,tab:i,compare:a,
picked:r,chosen:o,step:l,phase:c}=this.all,h=new URLSearchParams({method:t,radius:e,draws:s});i&&h.set("tab",i),a&&h.set("b",`${a.radius}:${a.
method}`),r!==null&&h.set("draw",r+1),l!==this.start.step&&h.set("step",l+1),c!==null&&h.set("phase",c+1);for(let[d,f]of Object.entries(o))h.
set(`see.${d}`,f);return`#${h}`}read(t){let e=new URLSearchParams(t.replace(/^#/,"")),s={},i=(l,c)=>{let h=e.has(l)?Number(e.get(l)):NaN;return h>=
c&&Number.isFinite(h)?h:null};this.methods.includes(e.get("method"))&&(s.method=e.get("method")),i("radius",0)!==null&&(s.radius=i("radius",
0)),i("draws",1)!==null&&(s.n_draws=Math.round(i("draws",1))),e.has("tab")&&(s.tab=e.get("tab")),i("draw",1)!==null&&(s.picked=Math.round(i(
"draw",1))-1),i("step",0)!==null&&(s.step=Math.round(i("step",1))-1),i("phase",1)!==null&&(s.phase=Math.round(i("phase",1))-1);let[,a,r]=e.get(
"b")?.match(/^([\d.e+-]+):(.*)$/s)??[];r!==void 0&&Number.isFinite(Number(a))&&(s.compare={method:r,radius:Number(a)});let o=[...e].filter(([
l])=>l.startsWith("see.")).map(([l,c])=>[l.slice(4),c]);o.length&&(s.chosen=Object.fromEntries(o)),Object.keys(s).length&&this.put({...this.
start,...s})}};var Zt=n=>Object.values(n.option).join(", "),rt=class{entries;choose;menus;slot;constructor(t,e){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),Object.assign(this,{slot:t.slot,group:t.group,span:t.span,least:t.least,
choose:e,entries:[],menus:{},made:{},shown:""})}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){for(let e of Object.
keys(this.entries[0].option)){let s=[...new Set(this.entries.map(a=>a.option[e]))],i=u("select",{"aria-label":`${e} of this picture`},...s.map(
a=>u("option",{value:a},a)));i.addEventListener("change",()=>{let a=this.entry(t()).option,r=l=>Object.keys(a).filter(c=>l.option[c]===a[c]).
length,o=this.entries.filter(l=>l.option[e]===i.value);this.choose(Zt(o.reduce((l,c)=>r(c)>r(l)?c:l)))}),this.menus[e]=i,s.length>1&&this.choice.
append(i)}}entry(t){return this.entries.find(e=>Zt(e)===t[this.slot])??this.entries[0]}phase(t,e){this.phases=new X(t,e),this.pair.after(this.
phases.node)}},lt=class{page;frames;tallest;constructor(t,e){Object.assign(this,{frames:t,page:e,tallest:new Map})}tabOf({tab:t}){let{names:e,
printing:s}=this.page;return s()?"All":e.includes(t)?t:e[0]}inTab(t,e){return e==="All"||t.group===e}reads(t){return this.page.article.reads(
t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<640&&!this.page.printing()}get screen(){return this.page.el.closest("\
.jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,e){let s=o=>o.reduce((l,c)=>l+c,0),i=s(e.map(o=>o.span)),
a=e.map(o=>Math.ceil(12*o.least/this.page.grid.clientWidth)),r=e.map(o=>Math.max(3,Math.round(12*o.span/i)));return r.some((o,l)=>o<a[l])&&s(
a)<=12&&a.every(Boolean)&&(r=a),r[r.length-1]+=12-s(r),r[e.indexOf(t)]}arrange(t){let{page:e,frames:s}=this,{el:i,grid:a,tabs:r,compare:o,undo:l,
names:c,article:{story:h}}=e,d=e.printing(),f=i.clientWidth,p=this.tabOf(t),b=this.reads(t),v=f>=900,m=s.filter(g=>this.inTab(g,p)),k={narrow:f<
640||d,beside:v&&!d,above:!v&&!d,two:t.b,reads:b,story:h.length&&!d};for(let[g,z]of Object.entries(k))i.classList.toggle(`fv-${g}`,!!z);for(let g of[
r,o,l])g.hidden=b||g===r&&c.length<2;let w=g=>a.clientWidth*this.spread(g,m)/12<g.least;b&&(!v||t.b||m.some(w))&&(m=[m.find(g=>g.entries.some(
z=>z.name===h[t.step].set?.see))??m[0]]);let M=m.reduce((g,z)=>g+z.span,0),O=p!=="All"&&(M<=12||m.length<3)&&!t.b,L=O&&m.some(w),x=f<1e3||t.
b,y=[[]],j=(g,z)=>x?12/z.length:this.spread(g,z);for(let g of m){let z=[...y.at(-1),g],P=z.some(_=>a.clientWidth*j(_,z)/12<_.least);z.length>
1&&(P||z.reduce((_,R)=>_+(x?6:R.span),0)>12)&&y.push([]),y.at(-1).push(g)}let E=g=>j(g,y.find(z=>z.includes(g))??[g]),$=f<640&&!d;for(let g of s)
g.tap!==$&&(Object.assign(g,{tap:$}).about.open=!$),g.node.hidden=!m.includes(g),b&&!v&&t.b?g.pair.tabIndex=0:g.pair.removeAttribute("tabind\
ex"),g.node.style.gridColumn=(t.b||L)&&p!=="All"?"span 12":O?`span ${this.spread(g,m)}`:`span ${E(g)}`}tall(t,e){let{el:s,note:i}=this.page,
a=[s.clientWidth,!!e.b,this.reads(e),i.textContent].join(),r=this.tallest.get(t),o=t.hidden?0:Math.max(t.offsetHeight,r?.place===a?r.px:0);return this.
tallest.set(t,{place:a,px:o}),o}height(t,e){let{el:s,head:i,stage:a}=this.page,r=this.page.printing(),o=M=>this.tall(M,t),{height:l,layout:c}=e.
entry(t.chosen),{screen:h}=this,d=this.reads(t);if(d&&s.clientWidth<900)return a.clientHeight-o(i)-(e.phases?o(e.phases.node):0)-o(e.about.firstChild)-
o(e.choice)-24;let f=Object.keys(c).filter(M=>/^[xy]axis/.test(M)).length>2;if(t.b&&this.narrow)return f?440:Math.max(230,Math.round((h-o(i)-
40)/2));let p=e.phases&&!d?F(c)+92+290:300,b=s.clientWidth<690?p:Math.max(300,Math.min(p,h-o(i)-44));if(r)return l;if(this.tabOf(t)==="All")
return Math.max(b,Math.min(l,h-o(i)-40));let v=s.closest(".jp-Notebook")?0:s.getBoundingClientRect().top+window.scrollY,m=M=>(M.phases?o(M.phases.
node):0)+(d?o(M.choice)+o(M.caption):t.b?36:80),k=24+(d?Math.max(...this.frames.filter(M=>!M.node.hidden).map(m)):m(e)),w=h-o(i)-Math.max(k,
s.clientWidth>=1e3&&v<.3*h?v+48:0);return Math.round(Math.max(b,Math.min(t.b?440:560,w)))}};var Qt=n=>t=>`${n} ${t.toFixed(3)}`,te={accuracy:n=>`accuracy ${(100*n).toFixed(1)} %`,nll:n=>`NLL ${n.toFixed(3)} nats`,ece:Qt("ECE"),rmse:n=>`\
RMSE ${C(n)}`},Ue={...te,accuracy:n=>`${(100*n).toFixed(1)} % right`,nll:Qt("NLL")},ht=class{live;list;index;fields;constructor(t,e){Object.
assign(this,{index:t.index,fields:t.index.fields,live:e,list:ft(t)})}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){
return this.list.filter(e=>e.meta.method===t)}fitted(t){return this.of(t).filter(e=>!e.meta.note).map(e=>e.meta.radius).sort((e,s)=>e-s)}stops(t){
let e=this.live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(s=>s.meta.radius),...e])].sort((s,i)=>s-i)}standing(t,e){let s=this.
methods.includes(t)?t:this.methods[0],i=this.of(s);return{method:s,wanted:e,member:i[G(i.map(a=>a.meta.radius),e)]}}get offered(){return this.
methods.map(t=>{let{label:e,unit:s}=this.of(t)[0].meta;return[t,e,this.stops(t),s,this.index.defaults[t]]})}add(t){for(let e of ft(t)){let s=this.
list.findIndex(i=>i.meta.method===e.meta.method&&i.meta.radius===e.meta.radius);s>=0&&(e.version=(this.list[s].version??0)+1),s<0?this.list.
push(e):this.list[s]=e}}ranges(t){let e={};for(let s of t.shared){let i=this.list.flatMap(a=>a.meta.ranges[t.name]?.[s]??[]);i.length&&(e[s]=
[Math.min(...i),Math.max(...i)])}return e}scores(t,e=te){return Object.entries(e).filter(([s])=>s in this.fields).map(([s,i])=>i(t(s)))}sentence({
method:t,member:e,wanted:s},i){let a=h=>B(this.fields,e,h),r=h=>a(h)[i-1],o=e.meta.radius,l=Math.abs(o-s)>1e-6*Math.max(1,s)&&this.of(t).length>
1?`radius ${C(s)} is not fitted; shown: `:"",c=o>0?`, radius ${C(o)}${e.meta.reach??""}`:e.meta.equals?`, radius 0, which is ${e.meta.equals}`:
"";return`${l}${e.meta.label}${c}${e.meta.note??""}, ${Z(Math.min(i,e.meta.n_draws),"draw")}: `+(Number.isFinite(r("nll"))?`${this.scores(r).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(a("lambda1")[0])?`largest eigenvalue λ₁ ${C(a("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},e){let s=a=>B(this.fields,t,a)[e-1],[i]=B(this.fields,t,"lambda1");return Number.isFinite(
s("nll"))?`${this.scores(s,Ue).join(", ")}, λ₁ ${C(i)}`:"diverged"}aboutDraw({member:t},e){let s=B(this.fields,t,"draw loss")[e],i=B(this.
fields,t,"draw distance")[e];return Number.isFinite(s)?` Draw ${e+1}: training loss ${C(s)}, ${C(i)} off the plane.`:""}};var ee=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
.flatviz .fv-work { display: flex; gap: 10px; align-items: center; padding: 5px 12px 0; font-variant-numeric: tabular-nums; }
.flatviz .fv-work button:last-child { margin-left: auto; } .flatviz .fv-work progress { width: 130px; accent-color: var(--accent); } .flatvi\
z .fv-work span { min-width: 0; overflow-wrap: anywhere; }
.flatviz .fv-note { padding: 6px 12px; margin: 6px 0 0; border-left: 4px solid var(--warn); background: var(--panel); white-space: pre-wrap;\

  overflow-wrap: anywhere; max-height: 12em; overflow-y: auto; }
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
`;function Ot(n){return new Mt(n).handle}var Mt=class{index;hash;ask;el;Plotly;timers;model;constructor({Plotly:t,model:e,el:s,bundle:i,ask:a=null,
hash:r=!1,former:o=null}){let{index:l}=i;Bt(l.dark),Object.assign(this,{Plotly:t,model:e,el:s,index:l,ask:a,hash:r,pending:[],hovered:null,timers:{},
waiting:!1,stopped:!1,printing:!1,placed:!1,stale:!0}),this.schedule=this.schedule.bind(this),this.members=new ht(i,!!(l.live&&a)),this.state=
new ot(e,l,this.schedule,w=>{["method","radius","compare","step"].some(M=>M in w)&&this.player.halt(),["phase","chosen","tab","compare","ste\
p"].some(M=>M in w)&&this.frames.forEach(M=>M.phases?.player.halt())}),o&&Object.assign(this.state,o),this.buildControls(),this.buildPage(),
this.frames=[];for(let w of l.figures)this.place(w);for(let w of this.frames)w.offer(()=>this.state.all.chosen);let{grid:c,head:h,stage:d,note:f,
tabs:p,compare:b,undo:v,names:m,article:k}=this;this.layout=new lt(this.frames,{el:s,grid:c,head:h,stage:d,note:f,tabs:p,compare:b,undo:v,names:m,
article:k,printing:()=>this.printing}),this.listen(),this.schedule()}current(){let t=this.state.all,e=t.compare;return{...t,a:this.members.standing(
t.method,t.radius),b:e&&this.members.standing(e.method,e.radius)}}buildControls(){let{state:t,index:e,members:s,hash:i,ask:a}=this;this.a=new H(
"",r=>t.change(r)),this.b=new H("B",r=>t.change({compare:{method:this.b.method,radius:this.b.wanted,...r}})),this.draws=u("input",{type:"ran\
ge",class:"fv-draws",min:1,max:e.n_max,step:1,"aria-label":"ensemble size"}),this.drawsText=u("output"),this.draws.addEventListener("input",
()=>t.change({n_draws:Number(this.draws.value)})),this.compare=I("Compare","two states side by side, on the same scales",()=>{let r=this.current(),
o=s.methods.find(l=>l==="vi"&&l!==r.a.method)??r.a.method;t.change({compare:r.b?null:{method:o,radius:s.stops(o)[0]}})}),this.player=new J(r=>this.
playRadius(r),"go through the fitted radii of this method"),this.undo=I("Undo","take the last change back",()=>t.undo()),this.copied=new at,
this.more=St("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>this.copied.take(Vt(this.shown(),e,t.all),"code")],...i?[["Copy link",()=>this.
copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>yt(this.shown(),"svg")],["Save as PNG",()=>yt(this.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:r}=this.current().a;Jt({el:this.el,state:t,member:r,radii:s.fitted(
r.meta.method),shown:()=>this.shown()})}]]:[]]),this.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),this.said=
u("span",{role:"status"}),this.button=I("Stop","stop or start fitting",()=>a?.(this.button.textContent==="Stop"?"stop":"run")),this.bands=I(
"Bands over seeds","fit every member again with two more seeds, behind the picture",()=>a?.("seeds")),this.bands.hidden=e.seeds!==1,this.work=
u("div",{class:"fv-work"},this.button,this.bar,this.said,this.bands),this.work.hidden=!s.live,this.note=u("div",{class:"fv-note",role:"alert",
hidden:""})}playRadius(t){let{a:{method:e,member:s}}=this.current(),{radius:i}=s.meta,a=this.members.fitted(e),r=a.find(o=>o>i)??(t?a[0]:void 0);
return r===void 0||a.length<2?!1:(t&&this.state.past.push(this.state.all),this.state.put({...this.state.all,radius:r}),!0)}buildPage(){let{el:t,
index:e,state:s}=this,i=[...new Set(e.figures.map(o=>o.group))];this.controls=u("div",{class:"fv-controls",role:"group","aria-label":"contro\
ls"},this.a.node,u("label",{},u("span",{},"ensemble size"),this.draws,this.drawsText),this.b.node);let a=u("div",{class:"fv-buttons",role:"g\
roup","aria-label":"actions"},this.player.button,this.compare,this.undo,this.more);this.reading=u("p",{class:"fv-reading"}),this.readingB=u(
"p",{class:"fv-reading",hidden:""}),this.spoken=u("div",{"aria-live":"polite"},this.reading,this.readingB),this.names=i.length>1?[...i,"All"]:
i;let r=`fv-panel-${Math.random().toString(36).slice(2)}`;this.tabs=this.tabList(r),this.grid=u("div",{class:"fv-figures",role:"tabpanel",id:r,
"aria-label":"pictures",tabindex:0}),this.head=u("div",{class:"fv-bar"},this.controls,this.work,this.note,this.spoken,u("div",{class:"fv-str\
ip"},this.tabs,a)),this.stage=u("div",{class:"fv-stage"},this.head,this.copied.node,this.grid),this.article=new tt(e.story??[],{el:t,stage:this.
stage,state:s,resting:()=>this.stopped||this.printing||!this.placed}),t.classList.add("flatviz"),Xt(t),t.replaceChildren(u("style",{},ee),u(
"div",{class:"fv-body"},this.article.node,this.stage))}tabList(t){let{names:e,state:s}=this,i=u("div",{class:"fv-tabs",role:"tablist","aria-\
label":"views"});return this.tabButtons=e.map(a=>{let r=u("button",{type:"button",role:"tab","aria-controls":t},a);return r.addEventListener(
"click",()=>s.change({tab:a})),r}),i.append(...this.tabButtons),i.addEventListener("keydown",a=>{let r={ArrowRight:1,ArrowLeft:-1}[a.key];if(!r)
return;let o=(e.indexOf(this.layout.tabOf(s.all))+r+e.length)%e.length;s.change({tab:e[o]}),this.tabButtons[o].focus()}),i.hidden=e.length<2,
i}get tools(){let{Plotly:t,index:e,members:{list:s},state:i}=this;return{Plotly:t,index:e,members:s,point:(a,r)=>this.point(a,r),choose:(a,r)=>this.
choose(a,r),chosen:()=>i.all.chosen,redraw:this.schedule,replace:a=>a.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,e){
this.state.change({chosen:{...this.state.all.chosen,[t]:e}})}place(t){let e=t.slot?this.frames.find(s=>s.slot===t.slot&&s.group===t.group):null;
e||(e=new rt(t,s=>this.choose(t.slot,s)),this.grid.append(e.node),this.frames.push(e)),e.add(t),t.phases.length&&!e.phases&&e.phase(s=>this.
state.change({phase:s}),s=>this.playPhase(e,s))}placeOf({phases:t},{phase:e}){return t.length&&Math.min(e??t.length,t.length-1)}playPhase(t,e){
let{state:s}=this,i=t.entry(s.all.chosen),a=this.placeOf(i,s.all),r=i.phases.length-1,o=e&&a===r?0:a+1;return o>r?!1:(e&&s.past.push(s.all),
s.put({...s.all,phase:o}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(t.made))}shown(){return this.frames.filter(t=>!t.node.
hidden).flatMap(t=>{let e=t.entry(this.state.all.chosen);return["A","B"].map(s=>[s,e,t.made[e.name+s]]).filter(([,,s])=>s?.node.isConnected&&
s.state)})}drawControls(t){let{a:e,b:s,n_draws:i}=t,{members:a,draws:r,drawsText:o,layout:l}=this,{offered:c}=a,{narrow:h}=l;this.a.show(e.method,
t.radius,c,h),this.a.letter.textContent=s?"A":"",this.b.node.hidden=!s,s&&this.b.show(s.method,t.compare.radius,c,h),r.value=i,r.disabled=[e,
s].every(v=>!v||v.member.meta.n_draws===1),o.textContent=r.disabled?"one point":Z(i,"draw"),r.setAttribute("aria-valuetext",o.textContent),this.
compare.setAttribute("aria-pressed",!!s),this.compare.textContent=s?"One state":"Compare",this.undo.disabled=!this.state.past.length,this.player.
button.disabled=a.of(e.method).length<2;let d=this.hovered??t.picked,f=h&&l.reads(t),p=(v,m)=>[(s?`${m}: `:"")+(f?a.numbers(v,i):a.sentence(
v,i)),u("span",{class:"fv-draw"},d===null?"":a.aboutDraw(v,d))];this.reading.replaceChildren(...p(e,"A")),this.readingB.hidden=!s,s&&this.readingB.
replaceChildren(...p(s,"B"));let b=l.tabOf(t);this.el.classList.toggle("fv-drawn",this.frames.some(v=>l.inTab(v,b)&&Object.keys(v.entry(t.chosen).
link).length>0)),this.tabButtons.forEach((v,m)=>{v.setAttribute("aria-selected",this.names[m]===b),v.tabIndex=this.names[m]===b?0:-1})}draw(){
let{layout:t,el:e}=this,s=this.current();t.arrange(s),this.drawControls(s),!this.placed&&!this.stopped&&(this.placed=!0,this.article.goTo());
let i=et()&&!this.printing;e.dataset.theme=i?"dark":"light",this.pending=this.frames.filter(r=>!r.node.hidden).flatMap(r=>this.prepared(r,s));
for(let r of this.pending)r.height=t.height(s,r.frame),r.most=this.printing?1/0:t.reads(s)||s.b&&e.clientWidth<640?r.height:t.screen-t.tall(
this.head,s)-8,r.picture.state&&(r.width=r.picture.plot.clientWidth);let a=({frame:r})=>{let{top:o,bottom:l}=r.node.getBoundingClientRect();
return l<0||o>window.innerHeight};t.tabOf(s)==="All"&&this.pending.sort((r,o)=>Number(a(r))-Number(a(o))),this.go(s,i)}prepared(t,e){let s=t.
entry(e.chosen),i=s.kind==="plotly"&&!s.binds.length,a=e.b&&!i?{A:e.a,B:e.b}:{A:e.a};if(t.shown!==`${s.name}/${Object.keys(a)}`){t.shown=`${s.
name}/${Object.keys(a)}`,t.node.dataset.name=s.name;for(let[l,c]of Object.entries(s.option))t.menus[l].value=c;let o=Object.keys(a).map(l=>t.
made[s.name+l]??=new(s.kind==="images"?nt:U)(s,l,this.tools));t.pair.replaceChildren(...o.map(l=>l.node))}let r=e.a.member.meta.captions?.[s.
name]??s.caption;return t.caption.textContent!==r&&(t.caption.textContent=r),t.phases?.show(s.phases,this.placeOf(s,e)),Object.entries(a).flatMap(
([o,{member:l}])=>{let c=t.made[s.name+o],h=!!l.meta.waiting?.includes(s.name);return c.node.classList.toggle("fv-waits",h),h?[]:(c.mark.hidden=
!e.b||i,[{frame:t,picture:c,member:l,entry:s,height:0,most:0,width:void 0}])})}go(t,e){let{members:s,pending:i,el:a}=this,r=performance.now()+
(this.printing?1e9:30);for(;i.length;){let{frame:o,picture:l,member:c,entry:h,height:d,most:f,width:p}=i.shift(),b=this.placeOf(h,t);l.draw(
c,t.n_draws,{height:d,most:f,width:p,dark:e,phone:this.layout.narrow,ranges:s.ranges(h),transition:this.player.glide,at:b})&&l.light(this.hovered??
t.picked);let[v]=(h.layout.title?.text??"").split("<br>");o.about.firstChild.textContent=l.narrow&&v?`${v}: what is this?`:"What is this?",l.
print&&!o.caption.textContent.endsWith(l.print)&&o.caption.append(l.print);let m=h.phases[b]?.[0];if(l.describe(`${c.meta.alts[h.name]}${m?`\
; ${m}`:""}. ${s.sentence({member:c,wanted:c.meta.radius,method:c.meta.method},t.n_draws)}`),performance.now()>r&&i.length){requestAnimationFrame(
()=>{this.pending===i&&!this.stopped&&this.go(t,e)});return}}if(a.dataset.state=`${t.a.method}/${t.a.member.meta.radius}/${t.n_draws}`,a.dataset.
shown=t.a.member.meta.note?"preview":"fitted",a.dataset.look=`${this.layout.tabOf(t)}${t.b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,
this.hash&&!this.stale){let o=location.hash;this.later("address",()=>{location.hash===o&&history.replaceState(null,"",this.state.hash)},100)}
this.stale&&performance.mark("flatviz-drawn"),this.stale=!1,s.live&&this.later("shot",()=>this.photograph(),1500)}later(t,e,s){clearTimeout(
this.timers[t]),this.timers[t]=setTimeout(e,s)}schedule(){this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=
!1,!this.stopped&&(this.el.isConnected?this.draw():setTimeout(this.schedule,100))}))}point(t,e){let{state:s}=this;if(t==="click"){s.change({
picked:s.all.picked===e?null:e});return}this.hovered!==e&&(this.hovered=e,this.drawControls(this.current()),this.mark())}mark(){this.pictures.
forEach(t=>t.light(t.plot.clientWidth?this.lit:null))}async photograph(){if(this.stopped||!this.el.isConnected)return;let t=await Promise.all(
this.shown().slice(0,2).map(([,,e])=>e.image("png")));this.ask("picture",{images:t,text:this.spoken.innerText})}listen(){let{el:t,state:e,model:s,
article:i}=this,a=[],r=0,o=(h,d,f,p)=>{h.addEventListener(d,f,p),a.push(()=>h.removeEventListener(d,f))},l=["radius","n_draws","method","loo\
k"].map(h=>`change:${h}`);for(let h of l)s.on(h,this.schedule);let c=new ResizeObserver(()=>{this.stopped||!t.clientWidth||(t.clientWidth!==
r&&(r=t.clientWidth,this.placed=!1,this.layout.arrange(this.current()),this.schedule()),this.pictures.forEach(h=>h.resize()),this.mark())});
[t,this.grid].forEach(h=>c.observe(h)),a.push(st(this.schedule),()=>c.disconnect(),()=>l.forEach(h=>s.off?.(h,this.schedule))),o(window,"bef\
oreprint",()=>this.print(!0)),o(window,"afterprint",()=>this.print(!1)),o(window,"resize",this.schedule),i.story.length&&o(window,"scroll",i.
scrolled,{passive:!0}),this.hash&&(o(window,"hashchange",()=>{location.hash!==e.hash&&(e.read(location.hash),this.placed=!1)}),location.hash.
length>1&&e.read(location.hash)),this.forget=()=>a.forEach(h=>h())}print(t){this.printing=t,this.el.style.width=t?"660px":"",this.draw(),t&&
this.pictures.forEach(e=>e.resize())}get handle(){let t=s=>(...i)=>this[s](...i),{state:e}=this;return{get history(){return{past:e.past,start:e.
start}},add:t("add"),status:t("status"),lost:t("lost"),stop:t("stop")}}add(t){this.members.add(t);for(let e of t.index.figures??[]){let s=Object.
assign(this.index.figures.find(a=>a.name===e.name),e),{made:i}=this.frames.find(a=>a.entries.includes(s));(e.data||e.layout)&&["A","B"].forEach(
a=>i[s.name+a]?.renew())}this.schedule()}status({share:t,text:e,busy:s,error:i}){this.bar.value=t,this.said.textContent=e,this.button.textContent=
s?"Stop":"Run",this.bands.disabled=s,this.note.hidden=!i,this.note.textContent=i??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.
hidden=!1,this.note.textContent=t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),this.frames.forEach(t=>t.phases?.player.halt()),
Object.values(this.timers).forEach(clearTimeout),this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var ie=n=>JSON.parse(document.getElementById(n).textContent),He=()=>new Promise(n=>{requestAnimationFrame(()=>setTimeout(n))});async function se(n){
let t=new Blob([K(ie(n))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(t).arrayBuffer())}
async function Je(){performance.mark("flatviz-start");let n=ie("flatviz-start"),t=document.getElementById("explorer"),e={get:o=>n[o],set:(o,l)=>{
n[o]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await He();let[s,i]=await Promise.all([se("flatviz-index"),se("flatviz-records")]),a=document.createElement("script");a.textContent=
document.getElementById("plotly").textContent,document.head.append(a);let r={index:JSON.parse(new TextDecoder().decode(s)),buffer:jt(i)};Ot(
{Plotly:globalThis.Plotly,model:e,el:t,bundle:r,hash:!0})}return pe(Ve);})();
