var flatvizExplorer=(()=>{var dt=Object.defineProperty;var ne=Object.getOwnPropertyDescriptor;var oe=Object.getOwnPropertyNames;var re=Object.prototype.hasOwnProperty;var le=(n,t)=>{for(var e in t)dt(n,e,{get:t[e],enumerable:!0})},he=(n,t,e,s)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of oe(
t))!re.call(n,i)&&i!==e&&dt(n,i,{get:()=>t[i],enumerable:!(s=ne(t,i))||s.enumerable});return n};var de=n=>he(dt({},"__esModule",{value:!0}),n);var Pe={};le(Pe,{isDark:()=>tt,onThemeChange:()=>et,recolored:()=>T,show:()=>Ot,start:()=>De});function ct(n){let{index:t}=n,e=n.buffer instanceof ArrayBuffer?n.buffer:n.buffer.buffer.slice(n.buffer.byteOffset,n.buffer.byteOffset+n.buffer.
byteLength),s=t.record;return t.members.map((i,a)=>({meta:i,data:new Float32Array(e,a*s*4,s),read:new Map}))}var U=n=>Uint8Array.from(atob(n),
t=>t.charCodeAt(0));function Lt(n){let t=n.length/4,e=new Uint8Array(n.length);for(let s=0;s<4;s++)for(let i=0;i<t;i++)e[4*i+s]=n[s*t+i];return e}
function jt(n,[t,...e]){if(!e.length)return Array.from(n);let s=n.length/t;return Array.from({length:t},(i,a)=>jt(n.subarray(a*s,(a+1)*s),e))}
function N(n,t,e){if(!t.read.has(e)){let{offset:s,shape:i}=n[e],a=t.data.subarray(s,s+i.reduce((o,r)=>o*r,1));t.read.set(e,jt(a,i))}return t.
read.get(e)}function pt({field:n,rows:t},e,s,i,a){let o=s.meta.words[n];if(t==="phase")return(o??N(e,s,n))[a];if(o!==void 0)return o;let r=N(
e,s,n);return t==="draws"?r.slice(0,i):t==="segments"?r.slice(0,3*i):t==="size"?r[Math.min(i,r.length)-1]:r}function V(n,[t,...e],s){let i=Array.
isArray(n)?[...n]:{...n};return i[t]=e.length?V(i[t]??{},e,s):s,i}function ft(n,t,e){return Array.isArray(n)&&Array.isArray(t)?t.map((s,i)=>ft(
n[i],s,e)):typeof n=="number"&&typeof t=="number"?n+e*(t-n):e<.5?n:t}function G(n,t){let e=i=>i>0?Math.log10(i):-1/0,s=i=>i===t?0:Math.abs(e(
i)-e(t));return n.reduce((i,a,o)=>s(a)<s(n[i])?o:i,0)}function u(n,t={},...e){let s=document.createElement(n);for(let[i,a]of Object.entries(t))s.setAttribute(i,a);return s.append(...e),s}var C=n=>Number(
n.toPrecision(3)).toString(),X=(n,t)=>`${n} ${t}${n===1?"":"s"}`,H=class{method;wanted;stops;constructor(t,e){this.change=e,this.remembered=
{};let s=t?` ${t}`:"";this.letter=u("span",{class:"fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`\
method${s}`}),this.radius=u("input",{type:"range",class:"fv-radius",min:0,step:1,"aria-label":`radius${s}`}),this.text=u("output"),this.node=
u("div",{class:"fv-side"},this.letter,u("label",{},u("span",{},`method${s}`),this.select),u("label",{},u("span",{},`radius${s}`),this.radius,
this.text)),this.select.addEventListener("change",()=>{this.remembered[this.method]=this.wanted;let i=this.select.value,a=this.stopsOf(i);e(
{method:i,radius:this.remembered[i]??this.first(i)??a[Math.ceil((a.length-1)/2)]})}),this.radius.addEventListener("input",()=>e({radius:this.
stops[Number(this.radius.value)]}))}show(t,e,s,i=!1){let a=s.map(([l,,c])=>`${l}:${c.length}`).join()+t;a!==this.key&&(this.key=a,this.stopsOf=
l=>s.find(c=>c[0]===l)[2],this.first=l=>s.find(c=>c[0]===l)[4],this.select.replaceChildren(...s.map(([l,c])=>{let h=u("option",{value:l},c);
return h.selected=l===t,h}))),Object.assign(this,{method:t,wanted:e,stops:this.stopsOf(t)}),this.radius.max=Math.max(1,this.stops.length-1),
this.radius.disabled=this.stops.length<2,this.radius.value=G(this.stops,e);let o=s.find(l=>l[0]===t)[3],r=this.stops.length<2?"none":`${C(e)}\
 ${o}${e===0?" (= VI)":""}`;this.text.textContent=i?this.stops.length<2?"no radius":`radius ${C(e)}`:r,this.radius.setAttribute("aria-valuet\
ext",r)}},ce=1200,pe={duration:800,easing:"cubic-in-out"},ut=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1},K=class{every;next;text;constructor(t,e,{
text:s="Play",every:i=ce}={}){Object.assign(this,{next:t,text:s,every:i,timer:0}),this.button=W(s,e,()=>this.timer?this.halt():this.go(!0))}get glide(){
return this.timer&&!ut.matches?pe:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),this.every),this.next(t)?this.button.textContent="Pause":
this.halt()}halt(){clearTimeout(this.timer),this.timer=0,this.button.textContent=this.text}},Et=900,fe=1900,Y=class{constructor(t,e){this.player=
new K(e,"ascend, gradient there, step back, descend",{text:"Play the step",every:fe}),this.slider=u("input",{type:"range",class:"fv-phase",min:0,
step:1,"aria-label":"phase of the step"}),this.text=u("output"),this.slider.addEventListener("input",()=>t(Number(this.slider.value))),this.
node=u("div",{class:"fv-phases",role:"group","aria-label":"phases of the step"},this.player.button,this.slider,this.text)}show(t,e){if(this.
node.hidden=!t.length,!t.length)return;let[s,i]=t[e];this.slider.max=t.length-1,this.slider.value=e,this.slider.setAttribute("aria-valuetext",
`${e+1} of ${t.length}: ${s}`),this.text.replaceChildren(u("b",{},s),`: ${i}`)}};function _t(n,t){let e=u("div",{}),s=u("details",{class:"fv\
-menu"},u("summary",{},n),e);for(let[i,a]of t){let o=u("button",{type:"button"},i);o.addEventListener("click",()=>{s.open=!1,a()}),e.append(
o)}return s.addEventListener("keydown",i=>{i.key==="Escape"&&(s.open=!1,s.firstChild.focus())}),s.addEventListener("focusout",i=>{i.relatedTarget&&
!s.contains(i.relatedTarget)&&(s.open=!1)}),s}function W(n,t,e){let s=u("button",{type:"button",title:t},n);return s.addEventListener("click",
e),s}var ue={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"negative\
 log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the share o\
f right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler divergence: ho\
w far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function At(n){let t=new Set,e=s=>s.
split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((i,a)=>a%2===0||t.has(i)?i:(t.add(i),u("abbr",{title:ue[i],tabindex:0},i)));return n.split(`
`).filter(Boolean).map(s=>s.startsWith("= ")?u("p",{class:"fv-equation"},s.slice(2)):u("p",{},...s.split("**").flatMap((i,a)=>a%2?u("b",{},...e(
i)):e(i))))}async function Q(n){let t=new Image;return t.src=n,await t.decode(),t}function mt(n,t){let e=u("a",{href:n,download:t});document.
body.append(e),e.click(),e.remove()}var Z=class{page;story;constructor(t,e){Object.assign(this,{story:t,page:e,explored:null,rest:0}),this.sections=t.map(s=>u("section",{},u("h\
2",{},s.title),...At(s.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:e}=this,s=e+.45*(window.innerHeight-e),i=Math.
max(0,t.findLastIndex(a=>a.getBoundingClientRect().top<s));return i<t.length-1?i:-1}follow(){let{page:{state:t,resting:e},story:s}=this,i=this.
inSight(),a=t.all;if(e()||i===a.step)return;a.step<0&&(this.explored=a);let{method:o,radius:r,n_draws:l}=t.start;t.acted({step:i}),t.put(i<0&&
this.explored||{method:o,radius:r,n_draws:l,...s.at(i).set,step:i})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Ct={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function St(n){for(let[t,e]of Object.
entries(n))Ct[t]??=e}function tt(){let{body:n,documentElement:t}=document;return n.dataset.jpThemeLight?n.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function T(n){return typeof n=="string"?n.length<4?n:n.replace(
/#(?:[0-9a-f]{6}|fff)\b/gi,t=>Ct[t.toLowerCase()]??t):Array.isArray(n)?typeof n[0]=="number"?n:n.map(T):n===null||typeof n!="object"||ArrayBuffer.
isView(n)?n:Object.fromEntries(Object.entries(n).map(([t,e])=>[t,t==="colorscale"||t==="bdata"?e:T(e)]))}function et(n){let t=matchMedia("(p\
refers-color-scheme: dark)"),e=new MutationObserver(n);return e.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
e.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",n),()=>{e.disconnect(),t.removeEventListener(
"change",n)}}var me=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,Nt=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
Ft={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},gt=["contour","heatmap"];function st(n,t){return Array.
isArray(n)&&Array.isArray(t)?n.length===t.length&&n.every((e,s)=>st(e,t[s])):Object.is(n,t)}function Tt(n,t,e){let s=t.split("."),i=s.pop();
s.reduce((a,o)=>a[o],n)[i]=e}function vt(n,t,e,s,i){let a=[],o={};for(let[h,d]of e){let[,p,f]=h.match(me)??[];if(p!==void 0&&Array.isArray(d)&&
Number.isInteger(t._fullData?.[p]?.index))a.push([Number(p),f,d]);else if(Nt.test(h))o[h]=d;else return!1}let r=[...new Set(a.map(([h])=>h))].
filter(h=>t._fullData[h].visible===!0);if(!r.every(h=>ve(t,t._fullData[h])))return!1;for(let[h,d,p]of a)Tt(t.data[h],d,p),r.includes(h)&&Tt(
t._fullData[h],d,p);if(!r.every(h=>be(t,h)))return!1;ge(n,t,o);let l=new Set(r.map(h=>`${t._fullData[h].type} ${I(t._fullData[h])}`));return new Set(
[...l].map(h=>we(t,i?null:r,...h.split(" "),s))).forEach(h=>h?.style(t)),!0}function ge(n,t,e){let s={};for(let[i,a]of Object.entries(e)){let[
,o,r,l]=i.match(Nt);t.layout[o][r][l]=a,s[`${o}[${r}].opacity`]=t.layout[o][r].opacity??1}Object.keys(s).length&&n.relayout(t,s)}var I=n=>n.
xaxis+n.yaxis;function ve(n,t){let e=n._fullLayout?._plots?.[I(t)],s=Ft[t.type];if(!e||!s||t.zorder||!n.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:i,plot:a,style:o}=t._module;return[i,a,o].every(r=>typeof r=="function")&&!e.plot.select(`.${s}`).empty()}function be(n,t){let e=n.
_fullData[t],{t:s}=n.calcdata[t][0],i=n._fullLayout._plots[I(e)],a=[i.xaxis,i.yaxis].filter(c=>c.autorange),o=()=>gt.includes(e.type)||a.every(
c=>xe(n,e,c)),r=o();gt.includes(e.type)||(e._length=Math.min(e.x.length,e.y.length));let l=e._module.calc(n,e);return l[0].trace=e,l[0].t={...s,
...l[0].t},n.calcdata[t]=l,r&&o()}function xe(n,t,e){let i=n._fullData.find(h=>gt.includes(h.type)&&h.visible===!0&&I(h)===I(t))?._extremes?.[e.
_id],a=t._extremes?.[e._id];if(!i?.min?.length||!a)return!1;let o=Math.abs(e.range[1]-e.range[0])/e._length,r=Math.min(...i.min.map(h=>h.val)),
l=Math.max(...i.max.map(h=>h.val)),c=({pad:h,extrapad:d})=>o*(h+(d?e._length/20:0));return a.min.every(h=>h.val-c(h)>=r)&&a.max.every(h=>h.val+
c(h)<=l)}function we(n,t,e,s,i){let a=n._fullLayout._plots[s],o=n.calcdata.filter(([{trace:d}])=>d?.type===e&&d.visible===!0&&d._length!==0&&
I(d)===s),{_module:r}=o[0][0].trace,l=a.plot.select(`.${Ft[e]}`);if(r.crossTraceCalc?.(n,a),o.forEach(ye),e!=="scatter")return r.plot(n,a,o,
l),r;let h=l.selectAll("g.trace").size()===o.length&&t&&!i&&o.every(([{trace:d}])=>!/^tonext/.test(d.fill)&&!d.stackgroup);return h?o.filter(
([{trace:d}])=>t.includes(d.index)).forEach(d=>r.plot(n,a,[d],l,{duration:0})):r.plot(n,a,o,l,i),a.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),h&&!o.some(([{trace:d}])=>d.error_y?.visible||d.error_x?.visible)?null:r}function ye(n){let{error_y:t}=n[0].trace;t?.visible&&
n.forEach((e,s)=>{let i=e.i??s,a=t.array[i],o=(t.symmetric?t.array:t.arrayminus)[i];Number.isFinite(e.y)&&Number.isFinite(a)&&Number.isFinite(
o)&&Object.assign(e,{yh:e.y+a,ys:e.y-o})})}function bt(n){for(let{plot:t}of Object.values(n._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var F=n=>n.margin?.t??n.template.layout.margin.t;function Bt({layout:n,data:t},e,s,i){if(!n.yaxis?.scaleanchor||n.xaxis2)return null;let[a,o]=[
"xaxis","yaxis"].map(d=>e[d]??n[d].range),r=t.some(d=>d.colorbar)?130:20,l=a&&o?(a[1]-a[0])/(o[1]-o[0]):1,c=ke({data:t,layout:n}).reduce((d,p)=>d+
44+7.2*p.length,0),h=Math.min(s-60-r-(i-F(n)-92)*l,s-60-r-c)/2;return h<8?null:{margin:{...n.margin,t:F(n),l:60+h,r:r+h}}}function Dt(n,t){let e=[
"",2,3,4].filter(r=>n[`xaxis${r}`]),s=e.length>1&&e.every(r=>!n[`yaxis${r}`].domain);if(t>=460||!s)return n;let i=.1,a=(1-i*(e.length-1))/e.
length,o={};return e.forEach((r,l)=>{let c=1-l*(a+i),h=l===e.length-1;o[`xaxis${r}`]={...n[`xaxis${r}`],domain:[0,1],showticklabels:h,title:h?
n[`xaxis${r}`].title:""},o[`yaxis${r}`]={...n[`yaxis${r}`],domain:[Math.max(0,c-a),c],showticklabels:!0,nticks:4,title:l===1?n.yaxis.title:""}}),
{...n,...o,margin:{...n.margin,t:58}}}function ke({data:n,layout:t}){return t.showlegend===!1?[]:n.filter(e=>e.mode&&e.name&&e.showlegend!==
!1&&e.visible!==!1).map(e=>e.name)}function Pt({data:n,layout:t},e,s){let i=s-(t.margin?.t??76)-(t.margin?.b??92),a=f=>({...f,title:{...f.title,
font:{...f.title.font,size:Math.max(10,Math.min(15,i/(.54*f.title.text.length)))}}}),o=n.map(f=>f.colorbar?.title?.text?{...f,colorbar:a(f.colorbar)}:
f),{scene:r}=t,l=460/e;for(let f of Object.keys(t).filter(b=>/^[xy]axis\d*$/.test(b))){let b=t[f],[v,m]=b.domain??[0,1],z=f[0]==="y"?i:e-60,
[w]=(b.title?.text??"").split("<br>"),O=z*(m-v)/(.54*w.replace(/<[^>]*>/g,"").length);O<15&&(t={...t,[f]:{...b,title:{...b.title,font:{...b.
title.font,size:Math.max(9,O)}}}})}if(!r?.camera||l<=1)return{data:o,layout:t};let c=Object.fromEntries(Object.entries(r.camera.eye).map(([f,
b])=>[f,b*l**.7])),h=({title:f})=>f.text.replace(/ of [^)]*\)/,")"),d=(f,b)=>({...f,title:{...f.title,text:b,font:{size:10}},tickfont:{size:9}}),
p={xaxis:d(r.xaxis,h(r.xaxis)),yaxis:d(r.yaxis,h(r.yaxis)),zaxis:d(r.zaxis,"")};return{data:o,layout:{...t,scene:{...r,...p,camera:{...r.camera,
eye:c}}}}}var ze=matchMedia("(pointer: coarse)"),q=class{entry;tools;state;scene;revision;member;constructor(t,e,s){Object.assign(this,{entry:t,tools:s,
state:"",width:0,revision:0,glides:0}),this.mark=u("span",{class:"fv-letter",hidden:""},e),this.plot=u("div",{role:"group"}),this.node=u("di\
v",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,e,{height:s,most:i=1/0,width:a=this.plot.clientWidth,dark:o,phone:r=!1,ranges:l,
transition:c,at:h=0}){let{entry:d,plot:p,tools:f}=this,{index:b,Plotly:v}=f,m=a<460&&$e(d,a,r);if(this.narrow=!!m&&r,d.layout.yaxis?.scaleanchor&&
!d.layout.xaxis2){let{t:g,b:k,l:D,r:A}=m?.margin??{},P=m?g+k+a-D-A-(d.phases.length?0:66):F(d.layout)+a-100;s=Math.round(m?Math.min(P,Math.max(
i,g+k+85)):Math.max(300,Math.min(s,P)))}if(d.layout.yaxis?.scaleanchor&&d.layout.xaxis2&&!m){let g=Object.keys(d.layout).filter(k=>/^xaxis\d*$/.
test(k)).length;s=Math.round(Math.max(300,Math.min(s,F(d.layout)+(a-160)/g+70)))}m&&d.phases.length&&(l=this.low(l,(s-m.margin.t-m.margin.b)/
(a-m.margin.l-m.margin.r),e));let z=m||Bt(d,l,a,s),w=d.binds.some(g=>g.rows!=="all"&&g.rows!=="phase"),O=[z&&a,o,s,JSON.stringify(l)].join("\
/"),M=[O,t.meta.method,t.meta.radius,t.version??0,w?e:""].join("/"),L=`${M}/${h}`;if(this.state===L)return this.resize(a),!1;let x=!this.state,
y=d.binds.map(g=>pt(g,b.fields,t,e,h));if(this.place===M&&!ut.matches)return this.slide(y,{state:L,at:h,dark:o}),!1;this.place=M,d.phases.length&&
(p.dataset.phase=h);let j=x||this.scene!==O?null:d.binds.flatMap(({path:g},k)=>st(y[k],this.values[k])?[]:[[g,o?T(y[k]):y[k]]]);Object.assign(
this,{state:L,scene:O,member:t,values:y});let E=performance.now()<this.glides;if(E&&bt(p),this.glides=c?performance.now()+c.duration+100:0,j&&
vt(v,p,j,c,E))return this.resize(a),this.spread(),!0;let $={data:d.data,layout:{...d.layout,height:s,uirevision:"kept",datarevision:++this.revision}};
d.binds.forEach((g,k)=>{$=V($,g.path.split("."),y[k])});for(let[g,k]of Object.entries(l))$=V($,["layout",g,"range"],k);return z&&($.layout={
...$.layout,margin:z.margin}),$.layout=Dt($.layout,a),$=Pt($,a,s),m&&($.data=qt($.data).map(g=>Me(g,d))),this.print=m?Le($.layout):"",m&&($.
layout=je({...$.layout,...Oe($,a)},d,r)),ze.matches&&($.layout.dragmode=!1),o?$={data:T($.data),layout:T($.layout)}:$={data:$.data.map(g=>({
...g})),layout:$.layout},this.width=a,p.style.height=`${s}px`,v.react(p,$.data,$.layout,b.config),x?this.listen():p._fullLayout.width!==a&&v.
Plots.resize(p),this.spread(),!0}low(t,e,s){let{entry:i,tools:a}=this,[o,r]=["xaxis","yaxis"].map(d=>t[d]??i.layout[d].range),l=(r[0]+r[1])/
2,c=i.binds.filter(({path:d})=>d.endsWith(".y")),h=e*(o[1]-o[0])/2;for(let d of c)for(let p of a.members)for(let f of i.phases.keys())for(let b of pt(
d,a.index.fields,p,s,f))h=Math.max(h,1.06*Math.abs(b-l)||0);return h<r[1]-l?{...t,yaxis:[l-h,l+h]}:t}slide(t,{state:e,at:s,dark:i}){let{entry:a,
plot:o,tools:r}=this,l=this.values,c=performance.now(),h=c<this.glides;h&&bt(o),Object.assign(this,{state:e,glides:0}),delete o.dataset.phase;
let d=()=>{if(this.state!==e)return;let p=Math.min(1,(performance.now()-c)/Et),f=p*p*(3-2*p),b=t.map((z,w)=>a.binds[w].rows==="phase"?ft(l[w],
z,f):z),v=a.binds.flatMap(({path:z},w)=>st(b[w],this.values[w])?[]:[[z,i?T(b[w]):b[w]]]);this.values=b;let m=o.clientWidth&&vt(r.Plotly,o,v,
void 0,h);h=!1,m?p<1?requestAnimationFrame(d):(o.dataset.phase=s,this.spread()):(this.renew(),r.redraw())};requestAnimationFrame(d)}spread(){
if(!this.entry.phases.length)return;let{left:t,right:e,top:s,bottom:i}=this.plot.querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")?.
getBoundingClientRect()??{},a=[];for(let o of this.plot.querySelectorAll(".scatterlayer .textpoint")){o.style.transform="";let r=o.getBoundingClientRect();
if(!r.width)continue;let l=([d,p])=>({left:r.left+d,right:r.right+d,top:r.top+p,bottom:r.bottom+p}),c=d=>{let p=l(d);return p.left>t&&p.right<
e&&p.top>s&&p.bottom<i&&a.every(f=>p.right<f.left||p.left>f.right||p.bottom<f.top+3||p.top>f.bottom-3)},h=[0,14,26,40].flatMap(d=>[[0,-d],[0,
d],[d,0],[-d,0],[d,-d],[-d,-d],[d,d],[-d,d]]).find(c);o.style.visibility=h?"":"hidden",h&&(o.style.transform=`translate(${h[0]}px, ${h[1]}px\
)`,a.push(l(h)))}}renew(){this.state&&Object.assign(this,{state:"elsewhere",scene:"",place:""})}describe(t){this.plot.setAttribute("aria-lab\
el",t)}resize(t=this.plot.clientWidth){let e=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(e-t)<2||(this.width=t,
this.tools.Plotly.Plots.resize(this.plot))}listen(){let t=s=>this.drawOf(s.points?.[0]),e=s=>i=>{let a=t(i);a!==null&&this.tools.point(s,a)};
this.plot.on("plotly_hover",e("hover")),this.plot.on("plotly_click",e("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),
this.plot.on("plotly_relayout",()=>this.tools.replace(this))}drawOf(t){if(!t)return null;let{link:e}=this.entry,s=e[t.data.name];return s===
"draws"?t.pointNumber:s==="eigenvalues"?Math.floor(t.pointNumber/this.perDraw(t.data)):e.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.
max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){this.rings.forEach(r=>r.remove()),this.rings=[];let e=this.plot._fullLayout;
if(t===null||!this.state||!e)return;let s=(r,l)=>{let c=u("div",{class:r,style:Object.entries(l).map(([h,d])=>`${h}:${d.toFixed(1)}px`).join(
";")});this.rings.push(c),this.node.append(c)},{link:i}=this.entry,a=this.plot.offsetTop,o=this.plot.offsetLeft;for(let r of this.plot._fullData){
let l=i[r.name],c=e[Wt(r.xaxis??"x")],h=e[Wt(r.yaxis??"y")];if(!l||!c?.d2p||!r.x)continue;let d=l==="draws"?1:this.perDraw(r);for(let p=t*d;p<
(t+1)*d&&p<r.x.length;p++){let f={left:o+c._offset+c.d2p(r.x[p]),top:a+h._offset+h.d2p(r.y[p])};Number.isFinite(f.left)&&Number.isFinite(f.top)&&
s("fv-ring",f)}}if(i.x==="sizes"&&e.xaxis?.d2p){let{t:r,h:l}=e._size;s("fv-rule",{left:o+e.xaxis._offset+e.xaxis.d2p(t+1),top:a+r,height:l})}}image(t,e=1){
let{width:s,height:i}=this.plot._fullLayout;return this.tools.Plotly.toImage(this.plot,{format:t,width:s,height:i,scale:e})}};function $e({data:n,
layout:t,phases:e},s,i){let a=Math.max(0,F(t)-76)+(t.annotations?.some(r=>r.yref==="paper"&&r.y>=1)?16:0),o=(i?12:36)+Math.min(34,a)+17*It({
data:qt(n),layout:t},s).length;return{margin:{...t.margin,...e.length?{t:o,b:8,l:8,r:8}:{t:o,b:48,l:s<240?40:50,r:12}}}}function It({data:n,
layout:t},e){if(t.showlegend===!1)return[];let s=[],i=0;for(let{name:a,mode:o,marker:r,line:l,showlegend:c,visible:h}of n){if(!o||!a||c===!1||
h===!1)continue;let d=/markers/.test(o)&&typeof r?.color=="string"?r.color:l?.color??"#1f2933",p=26+6.6*a.length,f=/markers/.test(o)?/cross/.
test(r?.symbol)?"✚":"●":"–";p>i&&(s.push([]),i=e-24),i-=p,s.at(-1).push(`<span style="color:${d}">${f} ${a}</span>`)}return s.map(a=>a.
join("   "))}function Oe(n,t){let e=It(n,t),{annotations:s=[],margin:i}=n.layout;if(!e.length)return{};let a={x:0,y:1,xref:"paper",yref:"pap\
er",xanchor:"left",yanchor:"bottom",xshift:8-i.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...s,{...a,text:e.join(
"<br>"),font:{size:11}}]}}var Rt=n=>n.type==="scatter"&&/lines/.test(n.mode)&&n.name?.length<11;function qt(n){let t=n.filter(s=>Rt(s)&&s.showlegend!==
!1&&s.visible!==!1).length,e=0;return n.map(s=>{if(!Rt(s)||s.showlegend===!1||s.visible===!1)return s;let i=s.y?.length??atob(s.y?.bdata??"").
length/Number(s.y?.dtype?.[1]??8),a=i>2&&i<60?Math.max(0,i-1-e++*Math.max(1,Math.floor(i/t))):i-1,o=Array.from({length:i},(r,l)=>l===a?s.name:
"");return{...s,showlegend:!1,mode:`${s.mode}+text`,text:o,textposition:i<60?"top left":"top center",textfont:{size:12,color:s.line?.color},
cliponaxis:!1}})}function Me(n,{phases:t}){return n.colorbar?t.length?{...n,showscale:!1}:{...n,colorbar:{...n.colorbar,thickness:9,xpad:4,tickfont:{
size:10},title:{...n.colorbar.title,font:{size:10.5}}}}:n}var Le=({xaxis:n})=>{let[,...t]=(n?.title?.text??"").replace(/<\/?span[^>]*>/g,"").
split("<br>");return t.length?` (${t.join("; ")}.)`:""};function je(n,{phases:t},e){let[,...s]=(n.title?.text??"").split("<br>"),i={...n.title,
text:e?s.join("<br>"):n.title?.text,font:{...n.title?.font,size:12}},a=h=>Math.max(...h.split("<br>").map(d=>d.length)),o=n.annotations?.map(
h=>({...h,font:{...h.font,size:a(h.text??"")>54?8.5:10}})),r={...n.legend,font:{...n.legend?.font,size:11}},{xaxis:l}=n,c=l?.title?.text?.split(
"<br>")[0];if(t.length)for(let h of["xaxis","yaxis"])n={...n,[h]:{...n[h],title:{text:""},showticklabels:!1,ticks:"",automargin:!1}};return{
...n,title:i,legend:r,...c&&!t.length?{xaxis:{...l,title:{...l.title,text:c}}}:{},...o?{annotations:o}:{}}}var Wt=n=>`${n[0]}axis${n.slice(1)}`;var Ee=40,_e=450;async function wt(n,t){for(let[e,s,i]of n){let{method:a,radius:o}=i.member.meta;mt(await i.image(t,t==="png"?2:1),["flatviz",
s.name,a,o||"",e==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function Ut({el:n,state:t,member:e,radii:s,shown:i}){let a=t.all,{method:o,
label:r}=e.meta,l=[];for(let M of s){for(t.put({...a,radius:M});n.dataset.state!==`${o}/${M}/${a.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:M,images:await Promise.all(i().map(async([,,L])=>Q(await L.image("png"))))})}t.put(a);let c=Math.max(...l.map(({images:M})=>M.
reduce((L,x)=>L+x.width,0))),h=Math.max(...l.flatMap(({images:M})=>M.map(L=>L.height))),d=u("canvas",{width:c+c%2,height:h+Ee+h%2}),p=d.getContext(
"2d"),{color:f,backgroundColor:b,fontFamily:v}=getComputedStyle(n),m=[],z=["video/mp4","video/webm"].find(M=>MediaRecorder.isTypeSupported(M)),
w=new MediaRecorder(d.captureStream(),{mimeType:z,videoBitsPerSecond:4e6}),O=new Promise(M=>{w.addEventListener("stop",M)});w.addEventListener(
"dataavailable",({data:M})=>m.push(M)),w.start();for(let{radius:M,images:L}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(p,{fillStyle:b,
font:`600 18px ${v}`}),p.fillRect(0,0,d.width,d.height),L.reduce((x,y)=>(p.drawImage(y,x,0),x+y.width),0),p.fillStyle=f,p.fillText(`${r}, ra\
dius ${M}`,14,d.height-14),await new Promise(x=>{setTimeout(x,_e)});w.stop(),await O,mt(URL.createObjectURL(new Blob(m,{type:z})),`flatviz-${o}\
-radius.${z.slice(6)}`)}function Ht(n,t,{n_draws:e,phase:s}){let i=n.filter(([,a])=>a.kind==="plotly").map(([,a,{member:{meta:o}}])=>{let l=a.
phases.length&&s!==null?`, phase=${JSON.stringify(t.phases[Math.min(s,t.phases.length-1)])}`:"";return`fv.widgets.plot_view(family, ${JSON.stringify(
a.name)}, method=${JSON.stringify(o.method)}, radius=${o.radius}, n_draws=${e}${l})`});return["import flatviz as fv","",...t.code??[],...i].
join(`
`)}var it=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,e){
let{node:s}=this;s.hidden=!1,s.value=t,s.select(),navigator.clipboard?.writeText(t).then(()=>s.setAttribute("aria-label",`${e}, copied`),()=>{});
let i=a=>{a.target!==s&&(s.hidden=!0,document.removeEventListener("pointerdown",i))};document.addEventListener("pointerdown",i)}};var Ae=255,Ce=254;function Kt(n){if(!n.images){let{pool:t,labels:e,shown:s,nats:i,n_draws:a,classes:o,probs:r}=n.meta.images,l=U(r);n.images=
{classes:o,kept:c=>Math.min(c,a),prob(c,h,d){let p=l[(c*t.length+h)*o.length+d];return p===Ae?NaN:p/Ce},of:c=>s[c-1].map((h,d)=>({place:h,row:t[h],
label:e[h],nats:i[c-1][d]}))}}return n.images}var yt=new WeakMap;function Se(n,...t){for(let e of t){let s=e?.rows?.indexOf(n)??-1;if(s<0)continue;
yt.has(e)||yt.set(e,{bytes:U(e.pixels),urls:new Map});let{bytes:i,urls:a}=yt.get(e),[o,r,l=1]=e.shape;if(!a.has(n)){let c=u("canvas",{width:r,
height:o}),h=c.getContext("2d"),d=h.createImageData(r,o);for(let p=0;p<o*r;p++){for(let f=0;f<3;f++)d.data[4*p+f]=i[s*o*r*l+p*l+(l>1?f:0)];d.
data[4*p+3]=255}h.putImageData(d,0,0),a.set(n,c.toDataURL())}return a.get(n)}return""}function _(n,t={},...e){let s=document.createElementNS(
"http://www.w3.org/2000/svg",n);for(let[i,a]of Object.entries(t))s.setAttribute(i,a);return s.append(...e),s}var Jt=12,kt=(n,t)=>n.length>t?
`${n.slice(0,Math.max(1,t-1))}…`:n,Te=n=>`${(100*n).toFixed(0)} %`,at=class extends q{chosen;n;height;dark;constructor(t,e,s){super(t,e,s),
this.lit=this.pointed=null;let i=o=>o.target.closest?.("[data-row]"),a=o=>o.target.closest?.("[data-chart]");this.plot.addEventListener("poi\
ntermove",o=>{let r=i(o);r?this.show(Number(r.dataset.row)):a(o)&&this.point("hover",o)}),this.plot.addEventListener("pointerleave",()=>{this.
show(null),this.tools.point("hover",null)}),this.plot.addEventListener("click",o=>{let r=i(o);r?this.tools.choose("image",r.dataset.row):a(o)&&
this.point("click",o)}),this.plot.addEventListener("keydown",o=>{let r=i(o);r&&(o.key==="Enter"||o.key===" ")&&(o.preventDefault(),this.tools.
choose("image",r.dataset.row))}),this.plot.addEventListener("focusin",o=>{let r=i(o);r&&!this.painting&&this.show(Number(r.dataset.row))})}draw(t,e,{
height:s,width:i=this.plot.clientWidth,dark:a}){let{tools:o}=this,r=o.chosen().image??"",l=[i,t.meta.method,t.meta.radius,t.version??0,e,a,s,
r].join("/");return this.state===l?!1:(r!==this.chosen&&(this.pointed=null),Object.assign(this,{state:l,member:t,n:e,height:s,dark:a,chosen:r,
width:i}),this.paint(),!0)}resize(){!this.state||!this.plot.clientWidth||this.plot.clientWidth===this.width||(this.width=this.plot.clientWidth,
this.paint())}light(t){this.lit===t||!this.state||(this.lit=t,this.paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,
this.paint())}point(t,e){let{left:s,top:i}=this.plot.firstChild.getBoundingClientRect(),{x:a,y:o,step:r,items:l}=this.chart,c=Math.max(0,Math.
min(l.classes.length-1,Math.floor((e.clientX-s-a(0)+r/2)/r))),h=p=>{let f=l.prob(p,this.now.place,c);return Number.isFinite(f)?Math.abs(o(f)-
(e.clientY-i)):1/0},d=Array.from({length:l.kept(this.n)},(p,f)=>f).reduce((p,f)=>h(f)<h(p)?f:p,0);h(d)<14?this.tools.point(t,d):t==="hover"&&
this.tools.point("hover",null)}paint(){let{plot:t,member:e,n:s,width:i,height:a,dark:o}=this;if(!i)return;let r=Kt(e),l=r.of(s),c=i>=620;this.
ink=o?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffff\
ff",mark:"#b84a00"};let h=[this.pointed,Number(this.chosen||NaN)].find(x=>l.some(y=>y.row===x))??l[0].row;this.now=l.find(x=>x.row===h);let d=document.
activeElement,p=t.contains(d)?d.dataset.row:null,f=_("svg",{width:i,height:a,viewBox:`0 0 ${i} ${a}`,"font-size":12,"font-family":"system-ui\
, sans-serif",fill:this.ink.ink});f.append(_("rect",{width:i,height:a,fill:this.ink.paper}));let b=c?{left:8,top:34,width:.52*i-16,height:a-
40}:{left:6,top:30,width:i-12,height:.54*a-30},v=c?.48*i-62:i-52,m=Math.min(Jt,Math.max(...r.classes.map(x=>x.length))),z=v/r.classes.length<
7*m,w=z?34+4.3*m:36,O=c?{left:.52*i+46,top:58,width:v,height:a-82-w,turned:z,foot:w}:{left:40,top:.54*a+50,width:v,height:.46*a-60-w,turned:z,
foot:w},M=(x,y,j,E=15)=>f.append(_("text",{x:y,y:j,"font-size":E},x)),L=r.kept(s)===1?"it is least sure":"the draws disagree most";M(c&&r.kept(
s)>1?`Images on which ${L}`:`Where ${L}`,b.left+(this.mark.hidden?4:18),22),l.forEach((x,y)=>f.append(this.tile(r,x,y,l.length,b))),f.append(
this.probabilities(r,O)),t.style.height=`${a}px`,t.replaceChildren(f),this.painting=!0,p&&t.querySelector(`[data-row="${p}"]`)?.focus(),this.
painting=!1,this.drawn={rows:l.map(x=>x.row),row:h},this.name()}describe(t){this.words=t,this.name()}name(){if(!this.now||!this.words)return;
let{classes:t,of:e}=Kt(this.member),s=e(this.n).map(i=>t[i.label]).join(", ");this.plot.setAttribute("aria-label",`${this.words} Labels of t\
he images: ${s}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{place:e,row:s,label:i,nats:a},o,r,{left:l,top:c,
width:h,height:d}){let f=Math.ceil(r/4),b=h/4,v=Math.min(b-10,d/f-48),m=v+48,z=l+o%4*b+(b-v)/2,w=c+Math.floor(o/4)*m,{member:O,tools:M,lit:L,
n:x,ink:y}=this,j=t.kept(x),{classes:E}=t,$=new Map;for(let S=0;S<j;S++){let R=this.best(t,S,e);$.set(R,($.get(R)??0)+1)}let g=[...$].sort((S,R)=>R[1]-
S[1]),k=L!==null&&L<j?this.best(t,L,e):null,D=k===null?g.map(([S,R])=>`${E[S]??"none"}${j>1?`×${R}`:""}`).join(" "):`${b>110?`draw ${L+1}: `:
""}${E[k]??"none"}, ${Te(t.prob(L,e,k))}`,A=Math.floor((b-8)/6.9),P=kt(D,A),J=a.toFixed(2),ee=[`${E[i]} · ${J} nats`,`${E[i]} · ${J}`].find(
S=>S.length<=A)??`${kt(E[i],A-J.length-3)} · ${J}`,Mt=`test image ${s}, label ${E[i]}, disagreement ${a.toFixed(2)} nats; answers ${D}`,se=_(
"image",{x:z,y:w,width:v,height:v,href:Se(s,O.meta.images,M.index.images),style:"image-rendering:pixelated"}),ie={x:z-1,y:w-1,width:v+2,height:v+
2,fill:"none"},ht=this.now.row===s,ae=k!==null&&k!==i;return _("g",{"data-row":s,role:"button",tabindex:0,"aria-label":Mt,"aria-pressed":ht,
style:"cursor:pointer"},_("title",{},Mt),se,_("rect",{...ie,stroke:ht?y.mark:y.line,"stroke-width":ht?3:1}),_("text",{x:z+v/2,y:w+v+16,"text\
-anchor":"middle"},ee),_("text",{x:z+v/2,y:w+v+32,"text-anchor":"middle","font-size":11.5,class:"fv-said","font-weight":k===null?400:600,fill:k===
null?y.soft:ae?y.mark:y.ink},P))}best(t,e,s){let i=NaN,a=-1;return t.classes.forEach((o,r)=>{let l=t.prob(e,s,r);l>a&&([i,a]=[r,l])}),i}probabilities(t,{
left:e,top:s,width:i,height:a,turned:o,foot:r}){let{now:l,n:c,ink:h,lit:d}=this,{classes:p}=t,f=t.kept(c),b=i/p.length,v=x=>e+(x+.5)*b,m=x=>s+
(1-x)*a;this.chart={x:v,y:m,step:b,items:t};let z=_("g",{"data-chart":l.row}),w=(x,y)=>z.append(_("text",y,x));z.append(_("rect",{x:e,y:s,width:i,
height:a,fill:"transparent"}));for(let x of[0,.25,.5,.75,1])z.append(_("line",{x1:e,x2:e+i,y1:m(x),y2:m(x),stroke:h.line})),w(x,{x:e-6,y:m(x)+
4,"text-anchor":"end",fill:h.soft});let{color:O}=this.member.meta.images;p.forEach((x,y)=>{let j=Array.from({length:f},($,g)=>t.prob(g,l.place,
y)).reduce(($,g)=>$+g,0)/f;Number.isFinite(j)&&z.append(_("rect",{class:"fv-mean",x:v(y)-.36*b,y:m(j),width:.72*b,height:j*a,fill:O,"fill-op\
acity":this.dark?.6:.35}));let E={x:v(y),y:s+a+16,"text-anchor":o?"end":"middle","font-weight":y===l.label?700:400};w(kt(x,Jt),o?{...E,transform:`\
rotate(-40 ${v(y)} ${s+a+16})`}:E)});let M=x=>p.map((y,j)=>[v(j),m(t.prob(x,l.place,j))]).filter(([,y])=>Number.isFinite(y)).map(y=>y.map(j=>j.
toFixed(2)).join(",")).join(" "),L=(x,y)=>z.append(_("polyline",{"data-draw":x,points:M(x),fill:"none","stroke-linejoin":"round",...y}));for(let x=0;x<
f;x++)L(x,{stroke:this.dark?h.ink:O,"stroke-width":1.2,"stroke-opacity":.55});return d!==null&&d<f&&L(d,{stroke:h.mark,"stroke-width":3.5}),
w(`Test image ${l.row}, label ${p[l.label]}`,{x:e-30,y:s-36,"font-size":15}),w(f===1?"one draw: its probabilities":`bars: mean of ${f} draws\
; lines: single draws${d!==null&&d<f?`; thick: draw ${d+1}`:""}`,{x:e-30,y:s-16,fill:h.soft}),w("class (bold: the label)",{x:e+i/2,y:s+a+r,"\
text-anchor":"middle",fill:h.soft}),z}async image(t,e=1){let{width:s,height:i}=this,a=this.plot.firstChild.cloneNode(!0);a.setAttribute("xml\
ns","http://www.w3.org/2000/svg");let o=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(a))}`;if(t==="svg")return o;
let r=await Q(o),l=u("canvas",{width:s*e,height:i*e});return l.getContext("2d").drawImage(r,0,0,l.width,l.height),l.toDataURL("image/png")}};function Vt(n){n.dataset.lmSuppressShortcuts="true";let t=e=>{!e.ctrlKey&&!e.metaKey&&!e.altKey&&!(e.shiftKey&&e.key==="Enter")&&e.stopPropagation()};
return n.addEventListener("keydown",t),()=>n.removeEventListener("keydown",t)}var zt={tab:"",compare:null,picked:null,chosen:{},step:-1,phase:null},nt=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:e,
members:s},i,a){Object.assign(this,{model:t,most:e,methods:s.map(o=>o.method),changed:i,acted:a,past:[],last:"",when:0}),this.start=this.all}get all(){
let{model:t}=this,e=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:e,...zt,...t.
get("look")??{}}}change(t){let e=Object.keys(t).join(),s=Date.now();(e!==this.last||s-this.when>700)&&this.past.push(this.all),this.past.length>
100&&this.past.shift(),Object.assign(this,{last:e,when:s}),this.acted(t),this.put({...this.all,...t})}put({method:t,radius:e,n_draws:s,...i}){
let a=Object.fromEntries(Object.keys(zt).map(o=>[o,i[o]??zt[o]]));for(let[o,r]of Object.entries({method:t,radius:e,n_draws:s,look:a}))this.model.
set(o,r);this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put({...this.past.pop(),
step:this.all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:e,n_draws:s,tab:i,compare:a,
picked:o,chosen:r,step:l,phase:c}=this.all,h=new URLSearchParams({method:t,radius:e,draws:s});i&&h.set("tab",i),a&&h.set("b",`${a.radius}:${a.
method}`),o!==null&&h.set("draw",o+1),l!==this.start.step&&h.set("step",l+1),c!==null&&h.set("phase",c+1);for(let[d,p]of Object.entries(r))h.
set(`see.${d}`,p);return`#${h}`}read(t){let e=new URLSearchParams(t.replace(/^#/,"")),s={},i=(l,c)=>{let h=e.has(l)?Number(e.get(l)):NaN;return h>=
c&&Number.isFinite(h)?h:null};this.methods.includes(e.get("method"))&&(s.method=e.get("method")),i("radius",0)!==null&&(s.radius=i("radius",
0)),i("draws",1)!==null&&(s.n_draws=Math.round(i("draws",1))),e.has("tab")&&(s.tab=e.get("tab")),i("draw",1)!==null&&(s.picked=Math.round(i(
"draw",1))-1),i("step",0)!==null&&(s.step=Math.round(i("step",1))-1),i("phase",1)!==null&&(s.phase=Math.round(i("phase",1))-1);let[,a,o]=e.get(
"b")?.match(/^([\d.e+-]+):(.*)$/s)??[];o!==void 0&&Number.isFinite(Number(a))&&(s.compare={method:o,radius:Number(a)});let r=[...e].filter(([
l])=>l.startsWith("see.")).map(([l,c])=>[l.slice(4),c]);r.length&&(s.chosen=Object.fromEntries(r)),Object.keys(s).length&&this.put({...this.
start,...s})}};var Gt=n=>Object.values(n.option).join(", "),ot=class{entries;choose;menus;slot;constructor(t,e){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),Object.assign(this,{slot:t.slot,group:t.group,span:t.span,least:t.least,
choose:e,entries:[],menus:{},made:{},shown:""})}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){for(let e of Object.
keys(this.entries[0].option)){let s=[...new Set(this.entries.map(a=>a.option[e]))],i=u("select",{"aria-label":`${e} of this picture`},...s.map(
a=>u("option",{value:a},a)));i.addEventListener("change",()=>{let a=this.entry(t()).option,o=l=>Object.keys(a).filter(c=>l.option[c]===a[c]).
length,r=this.entries.filter(l=>l.option[e]===i.value);this.choose(Gt(r.reduce((l,c)=>o(c)>o(l)?c:l)))}),this.menus[e]=i,s.length>1&&this.choice.
append(i)}}entry(t){return this.entries.find(e=>Gt(e)===t[this.slot])??this.entries[0]}phase(t,e){this.phases=new Y(t,e),this.pair.after(this.
phases.node)}},rt=class{page;frames;tallest;constructor(t,e){Object.assign(this,{frames:t,page:e,tallest:new Map})}tabOf({tab:t}){let{names:e,
printing:s}=this.page;return s()?"All":e.includes(t)?t:e[0]}inTab(t,e){return e==="All"||t.group===e}reads(t){return this.page.article.reads(
t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<640&&!this.page.printing()}get screen(){return this.page.el.closest("\
.jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,e){let s=r=>r.reduce((l,c)=>l+c,0),i=s(e.map(r=>r.span)),
a=e.map(r=>Math.ceil(12*r.least/this.page.grid.clientWidth)),o=e.map(r=>Math.max(3,Math.round(12*r.span/i)));return o.some((r,l)=>r<a[l])&&s(
a)<=12&&a.every(Boolean)&&(o=a),o[o.length-1]+=12-s(o),o[e.indexOf(t)]}arrange(t){let{page:e,frames:s}=this,{el:i,grid:a,tabs:o,compare:r,undo:l,
names:c,article:{story:h}}=e,d=e.printing(),p=i.clientWidth,f=this.tabOf(t),b=this.reads(t),v=p>=900,m=s.filter(g=>this.inTab(g,f)),z={narrow:p<
640||d,beside:v&&!d,above:!v&&!d,two:t.b,reads:b,story:h.length&&!d};for(let[g,k]of Object.entries(z))i.classList.toggle(`fv-${g}`,!!k);for(let g of[
o,r,l])g.hidden=b||g===o&&c.length<2;let w=g=>a.clientWidth*this.spread(g,m)/12<g.least;b&&(!v||t.b||m.some(w))&&(m=[m.find(g=>g.entries.some(
k=>k.name===h[t.step].set?.see))??m[0]]);let O=m.reduce((g,k)=>g+k.span,0),M=f!=="All"&&(O<=12||m.length<3)&&!t.b,L=M&&m.some(w),x=p<1e3||t.
b,y=[[]],j=(g,k)=>x?12/k.length:this.spread(g,k);for(let g of m){let k=[...y.at(-1),g],D=k.some(A=>a.clientWidth*j(A,k)/12<A.least);k.length>
1&&(D||k.reduce((A,P)=>A+(x?6:P.span),0)>12)&&y.push([]),y.at(-1).push(g)}let E=g=>j(g,y.find(k=>k.includes(g))??[g]),$=p<640&&!d;for(let g of s)
g.tap!==$&&(Object.assign(g,{tap:$}).about.open=!$),g.node.hidden=!m.includes(g),b&&!v&&t.b?g.pair.tabIndex=0:g.pair.removeAttribute("tabind\
ex"),g.node.style.gridColumn=(t.b||L)&&f!=="All"?"span 12":M?`span ${this.spread(g,m)}`:`span ${E(g)}`}tall(t,e){let{el:s,note:i}=this.page,
a=[s.clientWidth,!!e.b,this.reads(e),i.textContent].join(),o=this.tallest.get(t),r=t.hidden?0:Math.max(t.offsetHeight,o?.place===a?o.px:0);return this.
tallest.set(t,{place:a,px:r}),r}height(t,e){let{el:s,head:i,stage:a}=this.page,o=this.page.printing(),r=O=>this.tall(O,t),{height:l,layout:c}=e.
entry(t.chosen),{screen:h}=this,d=this.reads(t);if(d&&s.clientWidth<900)return a.clientHeight-r(i)-(e.phases?r(e.phases.node):0)-r(e.about.firstChild)-
r(e.choice)-24;let p=Object.keys(c).filter(O=>/^[xy]axis/.test(O)).length>2;if(t.b&&this.narrow)return p?440:Math.max(230,Math.round((h-r(i)-
40)/2));let f=e.phases&&!d?F(c)+92+290:300,b=s.clientWidth<690?f:Math.max(300,Math.min(f,h-r(i)-44));if(o)return l;if(this.tabOf(t)==="All")
return Math.max(b,Math.min(l,h-r(i)-40));let v=s.closest(".jp-Notebook")?0:s.getBoundingClientRect().top+window.scrollY,m=O=>(O.phases?r(O.phases.
node):0)+(d?r(O.choice)+r(O.caption):t.b?36:80),z=24+(d?Math.max(...this.frames.filter(O=>!O.node.hidden).map(m)):m(e)),w=h-r(i)-Math.max(z,
s.clientWidth>=1e3&&v<.3*h?v+48:0);return Math.round(Math.max(b,Math.min(t.b?440:560,w)))}};var Yt=n=>t=>`${n} ${t.toFixed(3)}`,Xt={accuracy:n=>`accuracy ${(100*n).toFixed(1)} %`,nll:n=>`NLL ${n.toFixed(3)} nats`,ece:Yt("ECE"),rmse:n=>`\
RMSE ${C(n)}`},Ne={...Xt,accuracy:n=>`${(100*n).toFixed(1)} % right`,nll:Yt("NLL")},lt=class{live;list;index;fields;constructor(t,e){Object.
assign(this,{index:t.index,fields:t.index.fields,live:e,list:ct(t)})}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){
return this.list.filter(e=>e.meta.method===t)}fitted(t){return this.of(t).filter(e=>!e.meta.note).map(e=>e.meta.radius).sort((e,s)=>e-s)}stops(t){
let e=this.live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(s=>s.meta.radius),...e])].sort((s,i)=>s-i)}standing(t,e){let s=this.
methods.includes(t)?t:this.methods[0],i=this.of(s);return{method:s,wanted:e,member:i[G(i.map(a=>a.meta.radius),e)]}}get offered(){return this.
methods.map(t=>{let{label:e,unit:s}=this.of(t)[0].meta;return[t,e,this.stops(t),s,this.index.defaults[t]]})}add(t){for(let e of ct(t)){let s=this.
list.findIndex(i=>i.meta.method===e.meta.method&&i.meta.radius===e.meta.radius);s>=0&&(e.version=(this.list[s].version??0)+1),s<0?this.list.
push(e):this.list[s]=e}}ranges(t){let e={};for(let s of t.shared){let i=this.list.flatMap(a=>a.meta.ranges[t.name]?.[s]??[]);i.length&&(e[s]=
[Math.min(...i),Math.max(...i)])}return e}scores(t,e=Xt){return Object.entries(e).filter(([s])=>s in this.fields).map(([s,i])=>i(t(s)))}sentence({
method:t,member:e,wanted:s},i){let a=h=>N(this.fields,e,h),o=h=>a(h)[i-1],r=e.meta.radius,l=Math.abs(r-s)>1e-6*Math.max(1,s)&&this.of(t).length>
1?`radius ${C(s)} is not fitted; shown: `:"",c=r>0?`, radius ${C(r)}${e.meta.reach??""}`:e.meta.equals?`, radius 0, which is ${e.meta.equals}`:
"";return`${l}${e.meta.label}${c}${e.meta.note??""}, ${X(Math.min(i,e.meta.n_draws),"draw")}: `+(Number.isFinite(o("nll"))?`${this.scores(o).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(a("lambda1")[0])?`largest eigenvalue λ₁ ${C(a("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},e){let s=a=>N(this.fields,t,a)[e-1],[i]=N(this.fields,t,"lambda1");return Number.isFinite(
s("nll"))?`${this.scores(s,Ne).join(", ")}, λ₁ ${C(i)}`:"diverged"}aboutDraw({member:t},e){let s=N(this.fields,t,"draw loss")[e],i=N(this.
fields,t,"draw distance")[e];return Number.isFinite(s)?` Draw ${e+1}: training loss ${C(s)}, ${C(i)} off the plane.`:""}};var Qt=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
.flatviz .fv-article section { min-height: 78vh; padding-bottom: 24px; } .flatviz .fv-article section:last-child { min-height: 0; padding-bo\
ttom: 12px; }
.flatviz .fv-article { font-size: 16px; line-height: 1.55; } .flatviz .fv-article h2 { margin: 0 0 6px; font-size: 20px; line-height: 1.25; \
color: inherit; } .flatviz .fv-article p { margin: 0 0 10px; }
.flatviz .fv-article .fv-equation { font-family: "STIX Two Math", "Cambria Math", Georgia, serif; font-size: 15px; text-align: center; paddi\
ng: 6px 0; border-block: 1px solid var(--line); }
.flatviz .fv-stage { min-width: 0; background: var(--paper); grid-row: 2; grid-column: 1 / -1; }
.flatviz.fv-beside.fv-story .fv-body { grid-template-columns: clamp(216px, 20.7%, 300px) minmax(0, 1fr); column-gap: 14px; }
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
.flatviz.fv-above .fv-article section:nth-last-child(2) { min-height: 45vh; } .flatviz.fv-above .fv-article section:last-child { scroll-marg\
in-top: 12px; }
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
`;function Ot(n){return new $t(n).handle}var $t=class{index;hash;ask;el;Plotly;timers;model;constructor({Plotly:t,model:e,el:s,bundle:i,ask:a=null,
hash:o=!1,former:r=null}){let{index:l}=i;St(l.dark),Object.assign(this,{Plotly:t,model:e,el:s,index:l,ask:a,hash:o,pending:[],hovered:null,timers:{},
waiting:!1,stopped:!1,printing:!1,placed:!1,stale:!0}),this.schedule=this.schedule.bind(this),this.members=new lt(i,!!(l.live&&a)),this.state=
new nt(e,l,this.schedule,w=>{["method","radius","compare","step"].some(O=>O in w)&&this.player.halt(),["phase","chosen","tab","compare","ste\
p"].some(O=>O in w)&&this.frames.forEach(O=>O.phases?.player.halt())}),r&&Object.assign(this.state,r),this.buildControls(),this.buildPage(),
this.frames=[];for(let w of l.figures)this.place(w);for(let w of this.frames)w.offer(()=>this.state.all.chosen);let{grid:c,head:h,stage:d,note:p,
tabs:f,compare:b,undo:v,names:m,article:z}=this;this.layout=new rt(this.frames,{el:s,grid:c,head:h,stage:d,note:p,tabs:f,compare:b,undo:v,names:m,
article:z,printing:()=>this.printing}),this.listen(),this.schedule()}current(){let t=this.state.all,e=t.compare;return{...t,a:this.members.standing(
t.method,t.radius),b:e&&this.members.standing(e.method,e.radius)}}buildControls(){let{state:t,index:e,members:s,hash:i,ask:a}=this;this.a=new H(
"",o=>t.change(o)),this.b=new H("B",o=>t.change({compare:{method:this.b.method,radius:this.b.wanted,...o}})),this.draws=u("input",{type:"ran\
ge",class:"fv-draws",min:1,max:e.n_max,step:1,"aria-label":"ensemble size"}),this.drawsText=u("output"),this.draws.addEventListener("input",
()=>t.change({n_draws:Number(this.draws.value)})),this.compare=W("Compare","two states side by side, on the same scales",()=>{let o=this.current(),
r=s.methods.find(l=>l==="vi"&&l!==o.a.method)??o.a.method;t.change({compare:o.b?null:{method:r,radius:s.stops(r)[0]}})}),this.player=new K(o=>this.
playRadius(o),"go through the fitted radii of this method"),this.undo=W("Undo","take the last change back",()=>t.undo()),this.copied=new it,
this.more=_t("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>this.copied.take(Ht(this.shown(),e,t.all),"code")],...i?[["Copy link",()=>this.
copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>wt(this.shown(),"svg")],["Save as PNG",()=>wt(this.shown(),"p\
ng")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:o}=this.current().a;Ut({el:this.el,state:t,member:o,radii:s.fitted(
o.meta.method),shown:()=>this.shown()})}]]:[]]),this.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),this.said=
u("span",{role:"status"}),this.button=W("Stop","stop or start fitting",()=>a?.(this.button.textContent==="Stop"?"stop":"run")),this.bands=W(
"Bands over seeds","fit every member again with two more seeds, behind the picture",()=>a?.("seeds")),this.bands.hidden=e.seeds!==1,this.work=
u("div",{class:"fv-work"},this.button,this.bar,this.said,this.bands),this.work.hidden=!s.live,this.note=u("div",{class:"fv-note",role:"alert",
hidden:""})}playRadius(t){let{a:{method:e,member:s}}=this.current(),{radius:i}=s.meta,a=this.members.fitted(e),o=a.find(r=>r>i)??(t?a[0]:void 0);
return o===void 0||a.length<2?!1:(t&&this.state.past.push(this.state.all),this.state.put({...this.state.all,radius:o}),!0)}buildPage(){let{el:t,
index:e,state:s}=this,i=[...new Set(e.figures.map(r=>r.group))];this.controls=u("div",{class:"fv-controls",role:"group","aria-label":"contro\
ls"},this.a.node,u("label",{},u("span",{},"ensemble size"),this.draws,this.drawsText),this.b.node);let a=u("div",{class:"fv-buttons",role:"g\
roup","aria-label":"actions"},this.player.button,this.compare,this.undo,this.more);this.reading=u("p",{class:"fv-reading"}),this.readingB=u(
"p",{class:"fv-reading",hidden:""}),this.spoken=u("div",{"aria-live":"polite"},this.reading,this.readingB),this.names=i.length>1?[...i,"All"]:
i;let o=`fv-panel-${Math.random().toString(36).slice(2)}`;this.tabs=this.tabList(o),this.grid=u("div",{class:"fv-figures",role:"tabpanel",id:o,
"aria-label":"pictures",tabindex:0}),this.head=u("div",{class:"fv-bar"},this.controls,this.work,this.note,this.spoken,u("div",{class:"fv-str\
ip"},this.tabs,a)),this.stage=u("div",{class:"fv-stage"},this.head,this.copied.node,this.grid),this.article=new Z(e.story??[],{el:t,stage:this.
stage,state:s,resting:()=>this.stopped||this.printing||!this.placed}),t.classList.add("flatviz"),Vt(t),t.replaceChildren(u("style",{},Qt),u(
"div",{class:"fv-body"},this.article.node,this.stage))}tabList(t){let{names:e,state:s}=this,i=u("div",{class:"fv-tabs",role:"tablist","aria-\
label":"views"});return this.tabButtons=e.map(a=>{let o=u("button",{type:"button",role:"tab","aria-controls":t},a);return o.addEventListener(
"click",()=>s.change({tab:a})),o}),i.append(...this.tabButtons),i.addEventListener("keydown",a=>{let o={ArrowRight:1,ArrowLeft:-1}[a.key];if(!o)
return;let r=(e.indexOf(this.layout.tabOf(s.all))+o+e.length)%e.length;s.change({tab:e[r]}),this.tabButtons[r].focus()}),i.hidden=e.length<2,
i}get tools(){let{Plotly:t,index:e,members:{list:s},state:i}=this;return{Plotly:t,index:e,members:s,point:(a,o)=>this.point(a,o),choose:(a,o)=>this.
choose(a,o),chosen:()=>i.all.chosen,redraw:this.schedule,replace:a=>a.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,e){
this.state.change({chosen:{...this.state.all.chosen,[t]:e}})}place(t){let e=t.slot?this.frames.find(s=>s.slot===t.slot&&s.group===t.group):null;
e||(e=new ot(t,s=>this.choose(t.slot,s)),this.grid.append(e.node),this.frames.push(e)),e.add(t),t.phases.length&&!e.phases&&e.phase(s=>this.
state.change({phase:s}),s=>this.playPhase(e,s))}placeOf({phases:t},{phase:e}){return t.length&&Math.min(e??t.length,t.length-1)}playPhase(t,e){
let{state:s}=this,i=t.entry(s.all.chosen),a=this.placeOf(i,s.all),o=i.phases.length-1,r=e&&a===o?0:a+1;return r>o?!1:(e&&s.past.push(s.all),
s.put({...s.all,phase:r}),!0)}get pictures(){return this.frames.flatMap(t=>Object.values(t.made))}shown(){return this.frames.filter(t=>!t.node.
hidden).flatMap(t=>{let e=t.entry(this.state.all.chosen);return["A","B"].map(s=>[s,e,t.made[e.name+s]]).filter(([,,s])=>s?.node.isConnected&&
s.state)})}drawControls(t){let{a:e,b:s,n_draws:i}=t,{members:a,draws:o,drawsText:r,layout:l}=this,{offered:c}=a,{narrow:h}=l;this.a.show(e.method,
t.radius,c,h),this.a.letter.textContent=s?"A":"",this.b.node.hidden=!s,s&&this.b.show(s.method,t.compare.radius,c,h),o.value=i,o.disabled=[e,
s].every(v=>!v||v.member.meta.n_draws===1),r.textContent=o.disabled?"one point":X(i,"draw"),o.setAttribute("aria-valuetext",r.textContent),this.
compare.setAttribute("aria-pressed",!!s),this.compare.textContent=s?"One state":"Compare",this.undo.disabled=!this.state.past.length,this.player.
button.disabled=a.of(e.method).length<2;let d=this.hovered??t.picked,p=h&&l.reads(t),f=(v,m)=>[(s?`${m}: `:"")+(p?a.numbers(v,i):a.sentence(
v,i)),u("span",{class:"fv-draw"},d===null?"":a.aboutDraw(v,d))];this.reading.replaceChildren(...f(e,"A")),this.readingB.hidden=!s,s&&this.readingB.
replaceChildren(...f(s,"B"));let b=l.tabOf(t);this.el.classList.toggle("fv-drawn",this.frames.some(v=>l.inTab(v,b)&&Object.keys(v.entry(t.chosen).
link).length>0)),this.tabButtons.forEach((v,m)=>{v.setAttribute("aria-selected",this.names[m]===b),v.tabIndex=this.names[m]===b?0:-1})}draw(){
let{layout:t,el:e}=this,s=this.current();t.arrange(s),this.drawControls(s),!this.placed&&!this.stopped&&(this.placed=!0,this.article.goTo());
let i=tt()&&!this.printing;e.dataset.theme=i?"dark":"light",this.pending=this.frames.filter(o=>!o.node.hidden).flatMap(o=>this.prepared(o,s));
for(let o of this.pending)o.height=t.height(s,o.frame),o.most=this.printing?1/0:t.reads(s)||s.b&&e.clientWidth<640?o.height:t.screen-t.tall(
this.head,s)-8,o.picture.state&&(o.width=o.picture.plot.clientWidth);let a=({frame:o})=>{let{top:r,bottom:l}=o.node.getBoundingClientRect();
return l<0||r>window.innerHeight};t.tabOf(s)==="All"&&this.pending.sort((o,r)=>Number(a(o))-Number(a(r))),this.go(s,i)}prepared(t,e){let s=t.
entry(e.chosen),i=s.kind==="plotly"&&!s.binds.length,a=e.b&&!i?{A:e.a,B:e.b}:{A:e.a};if(t.shown!==`${s.name}/${Object.keys(a)}`){t.shown=`${s.
name}/${Object.keys(a)}`,t.node.dataset.name=s.name;for(let[l,c]of Object.entries(s.option))t.menus[l].value=c;let r=Object.keys(a).map(l=>t.
made[s.name+l]??=new(s.kind==="images"?at:q)(s,l,this.tools));t.pair.replaceChildren(...r.map(l=>l.node))}let o=e.a.member.meta.captions?.[s.
name]??s.caption;return t.caption.textContent!==o&&(t.caption.textContent=o),t.phases?.show(s.phases,this.placeOf(s,e)),Object.entries(a).flatMap(
([r,{member:l}])=>{let c=t.made[s.name+r],h=!!l.meta.waiting?.includes(s.name);return c.node.classList.toggle("fv-waits",h),h?[]:(c.mark.hidden=
!e.b||i,[{frame:t,picture:c,member:l,entry:s,height:0,most:0,width:void 0}])})}go(t,e){let{members:s,pending:i,el:a}=this,o=performance.now()+
(this.printing?1e9:30);for(;i.length;){let{frame:r,picture:l,member:c,entry:h,height:d,most:p,width:f}=i.shift(),b=this.placeOf(h,t);l.draw(
c,t.n_draws,{height:d,most:p,width:f,dark:e,phone:this.layout.narrow,ranges:s.ranges(h),transition:this.player.glide,at:b})&&l.light(this.hovered??
t.picked);let[v]=(h.layout.title?.text??"").split("<br>");r.about.firstChild.textContent=l.narrow&&v?`${v}: what is this?`:"What is this?",l.
print&&!r.caption.textContent.endsWith(l.print)&&r.caption.append(l.print);let m=h.phases[b]?.[0];if(l.describe(`${c.meta.alts[h.name]}${m?`\
; ${m}`:""}. ${s.sentence({member:c,wanted:c.meta.radius,method:c.meta.method},t.n_draws)}`),performance.now()>o&&i.length){requestAnimationFrame(
()=>{this.pending===i&&!this.stopped&&this.go(t,e)});return}}if(a.dataset.state=`${t.a.method}/${t.a.member.meta.radius}/${t.n_draws}`,a.dataset.
shown=t.a.member.meta.note?"preview":"fitted",a.dataset.look=`${this.layout.tabOf(t)}${t.b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,
this.hash&&!this.stale){let r=location.hash;this.later("address",()=>{location.hash===r&&history.replaceState(null,"",this.state.hash)},100)}
this.stale&&performance.mark("flatviz-drawn"),this.stale=!1,s.live&&this.later("shot",()=>this.photograph(),1500)}later(t,e,s){clearTimeout(
this.timers[t]),this.timers[t]=setTimeout(e,s)}schedule(){this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=
!1,!this.stopped&&(this.el.isConnected?this.draw():setTimeout(this.schedule,100))}))}point(t,e){let{state:s}=this;if(t==="click"){s.change({
picked:s.all.picked===e?null:e});return}this.hovered!==e&&(this.hovered=e,this.drawControls(this.current()),this.mark())}mark(){this.pictures.
forEach(t=>t.light(t.plot.clientWidth?this.lit:null))}async photograph(){if(this.stopped||!this.el.isConnected)return;let t=await Promise.all(
this.shown().slice(0,2).map(([,,e])=>e.image("png")));this.ask("picture",{images:t,text:this.spoken.innerText})}listen(){let{el:t,state:e,model:s,
article:i}=this,a=[],o=0,r=(h,d,p,f)=>{h.addEventListener(d,p,f),a.push(()=>h.removeEventListener(d,p))},l=["radius","n_draws","method","loo\
k"].map(h=>`change:${h}`);for(let h of l)s.on(h,this.schedule);let c=new ResizeObserver(()=>{this.stopped||!t.clientWidth||(t.clientWidth!==
o&&(o=t.clientWidth,this.placed=!1,this.layout.arrange(this.current()),this.schedule()),this.pictures.forEach(h=>h.resize()),this.mark())});
[t,this.grid].forEach(h=>c.observe(h)),a.push(et(this.schedule),()=>c.disconnect(),()=>l.forEach(h=>s.off?.(h,this.schedule))),r(window,"bef\
oreprint",()=>this.print(!0)),r(window,"afterprint",()=>this.print(!1)),r(window,"resize",this.schedule),i.story.length&&r(window,"scroll",i.
scrolled,{passive:!0}),this.hash&&(r(window,"hashchange",()=>{location.hash!==e.hash&&(e.read(location.hash),this.placed=!1)}),location.hash.
length>1&&e.read(location.hash)),this.forget=()=>a.forEach(h=>h())}print(t){this.printing=t,this.el.style.width=t?"660px":"",this.draw(),t&&
this.pictures.forEach(e=>e.resize())}get handle(){let t=s=>(...i)=>this[s](...i),{state:e}=this;return{get history(){return{past:e.past,start:e.
start}},add:t("add"),status:t("status"),lost:t("lost"),stop:t("stop")}}add(t){this.members.add(t);for(let e of t.index.figures??[]){let s=Object.
assign(this.index.figures.find(a=>a.name===e.name),e),{made:i}=this.frames.find(a=>a.entries.includes(s));(e.data||e.layout)&&["A","B"].forEach(
a=>i[s.name+a]?.renew())}this.schedule()}status({share:t,text:e,busy:s,error:i}){this.bar.value=t,this.said.textContent=e,this.button.textContent=
s?"Stop":"Run",this.bands.disabled=s,this.note.hidden=!i,this.note.textContent=i??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.
hidden=!1,this.note.textContent=t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),this.frames.forEach(t=>t.phases?.player.halt()),
Object.values(this.timers).forEach(clearTimeout),this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var te=n=>JSON.parse(document.getElementById(n).textContent),Be=()=>new Promise(n=>{requestAnimationFrame(()=>setTimeout(n))});async function Zt(n){
let t=new Blob([U(te(n))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(t).arrayBuffer())}
async function De(){performance.mark("flatviz-start");let n=te("flatviz-start"),t=document.getElementById("explorer"),e={get:r=>n[r],set:(r,l)=>{
n[r]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await Be();let[s,i]=await Promise.all([Zt("flatviz-index"),Zt("flatviz-records")]),a=document.createElement("script");a.textContent=
document.getElementById("plotly").textContent,document.head.append(a);let o={index:JSON.parse(new TextDecoder().decode(s)),buffer:Lt(i)};Ot(
{Plotly:globalThis.Plotly,model:e,el:t,bundle:o,hash:!0})}return de(Pe);})();
