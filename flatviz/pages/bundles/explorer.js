var flatvizExplorer=(()=>{var ut=Object.defineProperty;var we=Object.getOwnPropertyDescriptor;var ye=Object.getOwnPropertyNames;var ke=Object.prototype.hasOwnProperty;var ze=(e,t)=>{for(var s in t)ut(e,s,{get:t[s],enumerable:!0})},$e=(e,t,s,i)=>{if(t&&typeof t=="object"||typeof t=="function")for(let n of ye(
t))!ke.call(e,n)&&n!==s&&ut(e,n,{get:()=>t[n],enumerable:!(i=we(t,n))||i.enumerable});return e};var Me=e=>$e(ut({},"__esModule",{value:!0}),e);var is={};ze(is,{isDark:()=>X,learnColors:()=>G,onThemeChange:()=>Z,recolored:()=>B,show:()=>Lt,start:()=>ss});function mt(e){let{index:t}=e,s=e.buffer instanceof ArrayBuffer?e.buffer:e.buffer.buffer.slice(e.buffer.byteOffset,e.buffer.byteOffset+e.buffer.
byteLength),i=t.record;return t.members.map((n,o)=>({meta:n,data:new Float32Array(s,o*i*4,i),read:new Map}))}var U=e=>Uint8Array.from(atob(e),
t=>t.charCodeAt(0));function _t(e){let t=e.length/4,s=new Uint8Array(e.length);for(let i=0;i<4;i++)for(let n=0;n<t;n++)s[4*n+i]=e[i*t+n];return s}
function At(e,[t,...s]){if(!s.length)return Array.from(e);let i=e.length/t;return Array.from({length:t},(n,o)=>At(e.subarray(o*i,(o+1)*i),s))}
function D(e,t,s){if(!t.read.has(s)){let{offset:i,shape:n}=e[s],o=t.data.subarray(i,i+n.reduce((a,r)=>a*r,1));t.read.set(s,At(o,n))}return t.
read.get(s)}function Ct({field:e,rows:t},s,i,n){let o=i.meta.words[e];if(o!==void 0)return o;let a=D(s,i,e);return t==="draws"?a.slice(0,n):
t==="segments"?a.slice(0,3*n):t==="size"?a[Math.min(n,a.length)-1]:a}function V(e,[t,...s],i){let n=Array.isArray(e)?[...e]:{...e};return n[t]=
s.length?V(n[t]??{},s,i):i,n}function Y(e,t){let s=n=>n>0?Math.log10(n):-1/0,i=n=>n===t?0:Math.abs(s(n)-s(t));return e.reduce((n,o,a)=>i(o)<
i(e[n])?a:n,0)}var vt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"};function G(e){for(let[t,s]of Object.
entries(e))vt[t]??=s}function X(){let{body:e,documentElement:t}=document;return e.dataset.jpThemeLight?e.dataset.jpThemeLight==="false":t.dataset.
theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function Oe(e,...t){let s=t.slice(0,3).map(r=>Number(r).toString(
16).padStart(2,"0")),i=vt[`#${s.join("")}`];if(!i||e.startsWith("rgba(255"))return e;let[n,o,a]=[1,3,5].map(r=>parseInt(i.slice(r,r+2),16));
return`rgba(${n}, ${o}, ${a}, ${t[3]})`}function B(e){return typeof e=="string"?e.length<4?e:e.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>vt[t.toLowerCase()]??
t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,Oe):Array.isArray(e)?typeof e[0]=="number"?e:e.map(B):e===null||typeof e!="object"||ArrayBuffer.
isView(e)?e:Object.fromEntries(Object.entries(e).map(([t,s])=>[t,t==="colorscale"||t==="bdata"?s:B(s)]))}function Z(e){let t=matchMedia("(pr\
efers-color-scheme: dark)"),s=new MutationObserver(e);return s.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]}),
s.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener("change",e),()=>{s.disconnect(),t.removeEventListener(
"change",e)}}function u(e,t={},...s){let i=document.createElement(e);for(let[n,o]of Object.entries(t))typeof o=="function"?i.addEventListener(n.slice(2),
o):o!=null&&o!==!1&&i.setAttribute(n,o===!0?"":String(o));return i.append(...s.filter(n=>n!=null)),i}function _(e,t={},...s){let i=document.
createElementNS("http://www.w3.org/2000/svg",e);for(let[n,o]of Object.entries(t))i.setAttribute(n,String(o));return i.append(...s),i}var W=(e,t,s,i={})=>u(
"button",{type:"button",title:t,onclick:s,...i},e);var A=e=>Number(e.toPrecision(3)).toString(),Q=(e,t)=>`${e} ${t}${e===1?"":"s"}`,St=globalThis.matchMedia?.("(prefers-reduced-motion: reduce\
)")??{matches:!1};async function tt(e){let t=new Image;return t.src=e,await t.decode(),t}function bt(e,t){let s=u("a",{href:e,download:t});document.
body.append(s),s.click(),s.remove()}var P=e=>e.margin?.t??e.template.layout.margin.t;function Tt({layout:e,data:t},s,i,n){if(!e.yaxis?.scaleanchor||e.xaxis2)return null;let[o,a]=[
"xaxis","yaxis"].map(h=>s[h]??e[h].range),r=t.some(h=>h.colorbar)?130:20,l=o&&a?(o[1]-o[0])/(a[1]-a[0]):1,d=Le({data:t,layout:e}).reduce((h,p)=>h+
44+7.2*p.length,0),c=Math.min(i-60-r-(n-P(e)-92)*l,i-60-r-d)/2;return c<8?null:{margin:{...e.margin,t:P(e),l:60+c,r:r+c}}}function Nt(e,t){let s=[
"",2,3,4].filter(r=>e[`xaxis${r}`]),i=s.length>1&&s.every(r=>!e[`yaxis${r}`].domain);if(t>=460||!i)return e;let n=.1,o=(1-n*(s.length-1))/s.
length,a={};return s.forEach((r,l)=>{let d=1-l*(o+n),c=l===s.length-1;a[`xaxis${r}`]={...e[`xaxis${r}`],domain:[0,1],showticklabels:c,title:c?
e[`xaxis${r}`].title:""},a[`yaxis${r}`]={...e[`yaxis${r}`],domain:[Math.max(0,d-o),d],showticklabels:!0,nticks:4,title:l===1?e.yaxis.title:""}}),
{...e,...a,margin:{...e.margin,t:58}}}function Le({data:e,layout:t}){return t.showlegend===!1?[]:e.filter(s=>s.mode&&s.name&&s.showlegend!==
!1&&s.visible!==!1).map(s=>s.name)}function Bt({data:e,layout:t},s,i){let n=i-(t.margin?.t??76)-(t.margin?.b??92),o=f=>({...f,title:{...f.title,
font:{...f.title.font,size:Math.max(10,Math.min(15,n/(.54*f.title.text.length)))}}}),a=e.map(f=>f.colorbar?.title?.text?{...f,colorbar:o(f.colorbar)}:
f),{scene:r}=t,l=460/s;for(let f of Object.keys(t).filter(v=>/^[xy]axis\d*$/.test(v))){let v=t[f],[m,w]=v.domain??[0,1],$=f[0]==="y"?n:s-60,
[x]=(v.title?.text??"").split("<br>"),j=$*(w-m)/(.54*x.replace(/<[^>]*>/g,"").length);j<15&&(t={...t,[f]:{...v,title:{...v.title,font:{...v.
title.font,size:Math.max(9,j)}}}})}if(!r?.camera||l<=1)return{data:a,layout:t};let d=Object.fromEntries(Object.entries(r.camera.eye).map(([f,
v])=>[f,v*l**.7])),c=({title:f})=>f.text.replace(/ of [^)]*\)/,")"),h=(f,v)=>({...f,title:{...f.title,text:v,font:{size:10}},tickfont:{size:9}}),
p={xaxis:h(r.xaxis,c(r.xaxis)),yaxis:h(r.yaxis,c(r.yaxis)),zaxis:h(r.zaxis,"")};return{data:a,layout:{...t,scene:{...r,...p,camera:{...r.camera,
eye:d}}}}}function Dt({data:e,layout:t},s,i){let n=Math.max(0,P(t)-76)+(t.annotations?.some(a=>a.yref==="paper"&&a.y>=1)?16:0),o=(i?12:36)+Math.min(34,
n)+17*Wt({data:xt(e),layout:t},s).length;return{margin:{...t.margin,t:o,b:48,l:s<240?40:50,r:12}}}function Wt({data:e,layout:t},s){if(t.showlegend===
!1)return[];let i=[],n=0;for(let{name:o,mode:a,marker:r,line:l,showlegend:d,visible:c}of e){if(!a||!o||d===!1||c===!1)continue;let h=/markers/.
test(a)&&typeof r?.color=="string"?r.color:l?.color??"#1f2933",p=26+6.6*o.length,f=/markers/.test(a)?/cross/.test(r?.symbol)?"✚":"●":"–";
p>n&&(i.push([]),n=s-24),n-=p,i.at(-1)?.push(`<span style="color:${h}">${f} ${o}</span>`)}return i.map(o=>o.join("   "))}function Pt(e,t){let s=Wt(
e,t),{annotations:i=[],margin:n}=e.layout;if(!s.length)return{};let o={x:0,y:1,xref:"paper",yref:"paper",xanchor:"left",yanchor:"bottom",xshift:8-
n.l,yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...i,{...o,text:s.join("<br>"),font:{size:11}}]}}var Ft=e=>e.type===
"scatter"&&/lines/.test(e.mode)&&e.name?.length<11;function xt(e){if(e.some(i=>i.type==="scatter"&&i.mode==="markers"&&i.visible!==!1))return e;
let t=e.filter(i=>Ft(i)&&i.showlegend!==!1&&i.visible!==!1).length,s=0;return e.map(i=>{if(!Ft(i)||i.showlegend===!1||i.visible===!1)return i;
let n=i.y?.length??atob(i.y?.bdata??"").length/Number(i.y?.dtype?.[1]??8),o=n>2&&n<60?Math.max(0,n-1-s++*Math.max(1,Math.floor(n/t))):n-1,a=Array.
from({length:n},(r,l)=>l===o?i.name:"");return{...i,showlegend:!1,mode:`${i.mode}+text`,text:a,textposition:n<60?"top left":"top center",textfont:{
size:12,color:i.line?.color},cliponaxis:!1}})}function Rt(e){return e.colorbar?{...e,colorbar:{...e.colorbar,thickness:9,xpad:4,tickfont:{size:10},
title:{...e.colorbar.title,font:{size:10.5}}}}:e}var It=({xaxis:e})=>{let[,...t]=(e?.title?.text??"").replace(/<\/?span[^>]*>/g,"").split("<\
br>");return t.length?` (${t.join("; ")}.)`:""};function qt(e,t){let[,...s]=(e.title?.text??"").split("<br>"),i={...e.title,text:t?s.join("<\
br>"):e.title?.text,font:{...e.title?.font,size:12}},n=d=>Math.max(...d.split("<br>").map(c=>c.length)),o=e.annotations?.map(d=>({...d,font:{
...d.font,size:n(d.text??"")>54?8.5:10}})),a={...e.legend,font:{...e.legend?.font,size:11}},{xaxis:r}=e,l=r?.title?.text?.split("<br>")[0];return{
...e,title:i,legend:a,...l?{xaxis:{...r,title:{...r.title,text:l}}}:{},...o?{annotations:o}:{}}}var gt=e=>`${e[0]}axis${e.slice(1)}`;var je=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,Kt=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
Ht={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},wt=["contour","heatmap"];function yt(e,t){return Array.
isArray(e)&&Array.isArray(t)?e.length===t.length&&e.every((s,i)=>yt(s,t[i])):Object.is(e,t)}function Ut(e,t,s){let i=t.split("."),n=i.pop();
i.reduce((o,a)=>o[a],e)[n]=s}function Jt(e,t,s,i,n){let o=[],a={};for(let[c,h]of s){let[,p,f]=c.match(je)??[];if(p!==void 0&&Array.isArray(h)&&
Number.isInteger(t._fullData?.[p]?.index))o.push([Number(p),f,h]);else if(Kt.test(c))a[c]=h;else return!1}let r=[...new Set(o.map(([c])=>c))].
filter(c=>t._fullData[c].visible===!0);if(!r.every(c=>Ae(t,t._fullData[c])))return!1;for(let[c,h,p]of o)Ut(t.data[c],h,p),r.includes(c)&&Ut(
t._fullData[c],h,p);if(!r.every(c=>Ce(t,c)))return!1;_e(e,t,a);let l=new Set(r.map(c=>`${t._fullData[c].type} ${I(t._fullData[c])}`));return new Set(
[...l].map(c=>Te(t,n?null:r,...c.split(" "),i))).forEach(c=>c?.style(t)),!0}function _e(e,t,s){let i={};for(let[n,o]of Object.entries(s)){let[
,a,r,l]=n.match(Kt)??[];t.layout[a][r][l]=o,i[`${a}[${r}].opacity`]=t.layout[a][r].opacity??1}Object.keys(i).length&&e.relayout(t,i)}var I=e=>e.
xaxis+e.yaxis;function Ae(e,t){let s=e._fullLayout?._plots?.[I(t)],i=Ht[t.type];if(!s||!i||t.zorder||!e.calcdata?.[t.index]?.[0]?.trace)return!1;
let{calc:n,plot:o,style:a}=t._module;return[n,o,a].every(r=>typeof r=="function")&&!s.plot.select(`.${i}`).empty()}function Ce(e,t){let s=e.
_fullData[t],{t:i}=e.calcdata[t][0],n=e._fullLayout._plots[I(s)],o=[n.xaxis,n.yaxis].filter(d=>d.autorange),a=()=>wt.includes(s.type)||o.every(
d=>Se(e,s,d)),r=a();wt.includes(s.type)||(s._length=Math.min(s.x.length,s.y.length));let l=s._module.calc(e,s);return l[0].trace=s,l[0].t={...i,
...l[0].t},e.calcdata[t]=l,r&&a()}function Se(e,t,s){let n=e._fullData.find(c=>wt.includes(c.type)&&c.visible===!0&&I(c)===I(t))?._extremes?.[s.
_id],o=t._extremes?.[s._id];if(!n?.min?.length||!o)return!1;let a=Math.abs(s.range[1]-s.range[0])/s._length,r=Math.min(...n.min.map(c=>c.val)),
l=Math.max(...n.max.map(c=>c.val)),d=({pad:c,extrapad:h})=>a*(c+(h?s._length/20:0));return o.min.every(c=>c.val-d(c)>=r)&&o.max.every(c=>c.val+
d(c)<=l)}function Te(e,t,s,i,n){let o=e._fullLayout._plots[i],a=e.calcdata.filter(([{trace:h}])=>h?.type===s&&h.visible===!0&&h._length!==0&&
I(h)===i),{_module:r}=a[0][0].trace,l=o.plot.select(`.${Ht[s]}`);if(r.crossTraceCalc?.(e,o),a.forEach(Ne),s!=="scatter")return r.plot(e,o,a,
l),r;let c=l.selectAll("g.trace").size()===a.length&&t&&!n&&a.every(([{trace:h}])=>!/^tonext/.test(h.fill)&&!h.stackgroup);return c?a.filter(
([{trace:h}])=>t.includes(h.index)).forEach(h=>r.plot(e,o,[h],l,{duration:0})):r.plot(e,o,a,l,n),o.zoomScalePts=l.selectAll(".trace").selectAll(
"path.point"),c&&!a.some(([{trace:h}])=>h.error_y?.visible||h.error_x?.visible)?null:r}function Ne(e){let{error_y:t}=e[0].trace;t?.visible&&
e.forEach((s,i)=>{let n=s.i??i,o=t.array[n],a=(t.symmetric?t.array:t.arrayminus)[n];Number.isFinite(s.y)&&Number.isFinite(o)&&Number.isFinite(
a)&&Object.assign(s,{yh:s.y+o,ys:s.y-a})})}function Vt(e){for(let{plot:t}of Object.values(e._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Be=matchMedia("(pointer: coarse)"),q=class{entry;tools;state;scene;revision;member;constructor(t,s,i){this.entry=t,this.tools=i,this.state=
"",this.width=0,this.revision=0,this.glides=0,this.mark=u("span",{class:"fv-letter",hidden:""},s),this.plot=u("div",{role:"group"}),this.node=
u("div",{class:"fv-plot"},this.mark,this.plot),this.rings=[]}draw(t,s,{height:i,most:n=1/0,width:o=this.plot.clientWidth,dark:a,phone:r=!1,ranges:l,
transition:d}){let{entry:c,plot:h,tools:p}=this,{index:f,Plotly:v}=p,m=o<460&&Dt(c,o,r);if(this.narrow=!!m&&r,c.layout.yaxis?.scaleanchor&&!c.
layout.xaxis2){let{t:z,b:E,l:y,r:L}=(m||null)?.margin??{},F=m?z+E+o-y-L-66:P(c.layout)+o-100;i=Math.round(m?Math.min(F,Math.max(n,z+E+85)):Math.
max(300,Math.min(i,F)))}if(c.layout.yaxis?.scaleanchor&&c.layout.xaxis2&&!m){let z=Object.keys(c.layout).filter(E=>/^xaxis\d*$/.test(E)).length;
i=Math.round(Math.max(300,Math.min(i,P(c.layout)+(o-160)/z+70)))}let w=m||Tt(c,l,o,i),$=c.binds.some(z=>z.rows!=="all"),x=[w&&o,a,i,JSON.stringify(
l)].join("/"),j=[x,t.meta.method,t.meta.radius,t.version??0,$?s:""].join("/");if(this.state===j)return this.resize(o),!1;let M=!this.state,O=c.
binds.map(z=>Ct(z,f.fields,t,s)),b=M||this.scene!==x?null:c.binds.flatMap(({path:z},E)=>yt(O[E],this.values[E])?[]:[[z,a?B(O[E]):O[E]]]);this.
state=j,this.scene=x,this.member=t,this.values=O;let k=performance.now()<this.glides;if(k&&Vt(h),this.glides=d?performance.now()+d.duration+
100:0,b&&Jt(v,h,b,d,k))return this.resize(o),!0;let g={data:c.data,layout:{...c.layout,height:i,uirevision:"kept",datarevision:++this.revision}};
c.binds.forEach((z,E)=>{g=V(g,z.path.split("."),O[E])});for(let[z,E]of Object.entries(l))g=V(g,["layout",z,"range"],E);return w&&(g.layout={
...g.layout,margin:w.margin}),g.layout=Nt(g.layout,o),g=Bt(g,o,i),m&&(g.data=xt(g.data).map(Rt)),this.print=m?It(g.layout):"",m&&(g.layout=qt(
{...g.layout,...Pt(g,o)},r)),Be.matches&&(g.layout.dragmode=!1),a?g={data:B(g.data),layout:B(g.layout)}:g={data:g.data.map(z=>({...z})),layout:g.
layout},this.width=o,h.style.height=`${i}px`,v.react(h,g.data,g.layout,f.config),M?this.listen():h._fullLayout.width!==o&&v.Plots.resize(h),
!0}renew(){this.state&&(this.state="elsewhere",this.scene="")}describe(t){this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){
let s=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&Math.abs(s-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){
let t=i=>this.drawOf(i.points?.[0]),s=i=>n=>{let o=t(n);o!==null&&this.tools.point(i,o)};this.plot.on("plotly_hover",s("hover")),this.plot.on(
"plotly_click",s("click")),this.plot.on("plotly_unhover",()=>this.tools.point("hover",null)),this.plot.on("plotly_relayout",()=>this.tools.replace(
this))}drawOf(t){if(!t)return null;let{link:s}=this.entry,i=s[t.data.name];return i==="draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/
this.perDraw(t.data)):s.x==="sizes"?Math.round(t.x)-1:null}perDraw(t){return Math.max(1,Math.round(t.x.length/this.member.meta.n_spectra))}light(t){
this.rings.forEach(r=>r.remove()),this.rings=[];let s=this.plot._fullLayout;if(t===null||!this.state||!s)return;let i=(r,l)=>{let d=u("div",
{class:r,style:Object.entries(l).map(([c,h])=>`${c}:${h.toFixed(1)}px`).join(";")});this.rings.push(d),this.node.append(d)},{link:n}=this.entry,
o=this.plot.offsetTop,a=this.plot.offsetLeft;for(let r of this.plot._fullData){let l=n[r.name],d=s[gt(r.xaxis??"x")],c=s[gt(r.yaxis??"y")];if(!l||
!d?.d2p||!r.x)continue;let h=l==="draws"?1:this.perDraw(r);for(let p=t*h;p<(t+1)*h&&p<r.x.length;p++){let f={left:a+d._offset+d.d2p(r.x[p]),
top:o+c._offset+c.d2p(r.y[p])};Number.isFinite(f.left)&&Number.isFinite(f.top)&&i("fv-ring",f)}}if(n.x==="sizes"&&s.xaxis?.d2p){let{t:r,h:l}=s.
_size;i("fv-rule",{left:a+s.xaxis._offset+s.xaxis.d2p(t+1),top:o+r,height:l})}}image(t,s=1){let{width:i,height:n}=this.plot._fullLayout;return this.
tools.Plotly.toImage(this.plot,{format:t,width:i,height:n,scale:s})}};var Fe=255,De=254;function zt(e){if(!e.images){let{pool:t,labels:s,shown:i,nats:n,n_draws:o,classes:a,probs:r}=e.meta.images,l=U(r);e.images=
{classes:a,kept:d=>Math.min(d,o),prob(d,c,h){let p=l[(d*t.length+c)*a.length+h];return p===Fe?NaN:p/De},of:d=>i[d-1].map((c,h)=>({place:c,row:t[c],
label:s[c],nats:n[d-1][h]}))}}return e.images}var kt=new WeakMap;function Yt(e,...t){for(let s of t){let i=s?.rows?.indexOf(e)??-1;if(i<0)continue;
kt.has(s)||kt.set(s,{bytes:U(s.pixels),urls:new Map});let{bytes:n,urls:o}=kt.get(s),[a,r,l=1]=s.shape;if(!o.has(e)){let d=u("canvas",{width:r,
height:a}),c=d.getContext("2d"),h=c.createImageData(r,a);for(let p=0;p<a*r;p++){for(let f=0;f<3;f++)h.data[4*p+f]=n[i*a*r*l+p*l+(l>1?f:0)];h.
data[4*p+3]=255}c.putImageData(h,0,0),o.set(e,d.toDataURL())}return o.get(e)}return""}var et=12,K=(e,t)=>e.length>t?`${e.slice(0,Math.max(1,
t-1))}…`:e,Gt=e=>`${(100*e).toFixed(0)} %`;function Xt(e,t,{left:s,top:i,width:n,height:o,turned:a,foot:r}){let{now:l,n:d,ink:c,lit:h}=e,{classes:p}=t,f=t.kept(d),v=n/p.length,m=b=>s+
(b+.5)*v,w=b=>i+(1-b)*o;e.chart={x:m,y:w,step:v,items:t};let $=_("g",{"data-chart":l.row}),x=(b,k)=>$.append(_("text",k,b));$.append(_("rect",
{x:s,y:i,width:n,height:o,fill:"transparent"}));for(let b of[0,.25,.5,.75,1])$.append(_("line",{x1:s,x2:s+n,y1:w(b),y2:w(b),stroke:c.line})),
x(b,{x:s-6,y:w(b)+4,"text-anchor":"end",fill:c.soft});let{color:j}=e.member.meta.images;p.forEach((b,k)=>{let g=Array.from({length:f},(E,y)=>t.
prob(y,l.place,k)).reduce((E,y)=>E+y,0)/f;Number.isFinite(g)&&$.append(_("rect",{class:"fv-mean",x:m(k)-.36*v,y:w(g),width:.72*v,height:g*o,
fill:j,"fill-opacity":e.dark?.6:.35}));let z={x:m(k),y:i+o+16,"text-anchor":a?"end":"middle","font-weight":k===l.label?700:400};x(K(b,et),a?
{...z,transform:`rotate(-40 ${m(k)} ${i+o+16})`}:z)});let M=b=>p.map((k,g)=>[m(g),w(t.prob(b,l.place,g))]).filter(([,k])=>Number.isFinite(k)).
map(k=>k.map(g=>g.toFixed(2)).join(",")).join(" "),O=(b,k)=>$.append(_("polyline",{"data-draw":b,points:M(b),fill:"none","stroke-linejoin":"\
round",...k}));for(let b=0;b<f;b++)O(b,{stroke:e.dark?c.ink:j,"stroke-width":1.2,"stroke-opacity":.55});return h!==null&&h<f&&O(h,{stroke:c.
mark,"stroke-width":3.5}),x(`Test image ${l.row}, label ${p[l.label]}`,{x:s-30,y:i-36,"font-size":15}),x(f===1?"one draw: its probabilities":
`bars: mean of ${f} draws; lines: single draws${h!==null&&h<f?`; thick: draw ${h+1}`:""}`,{x:s-30,y:i-16,fill:c.soft}),x("class (bold: the l\
abel)",{x:s+n/2,y:i+o+r,"text-anchor":"middle",fill:c.soft}),$}var st=class extends q{chosen;n;height;dark;chart;ink;constructor(t,s,i){super(t,s,i),this.lit=this.pointed=null;let n=a=>a.target.closest?.(
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
c=p=>{let f=l.prob(p,this.now.place,d);return Number.isFinite(f)?Math.abs(a(f)-(s.clientY-n)):1/0},h=Array.from({length:l.kept(this.n)},(p,f)=>f).
reduce((p,f)=>c(f)<c(p)?f:p,0);c(h)<14?this.tools.point(t,h):t==="hover"&&this.tools.point("hover",null)}paint(){let{plot:t,member:s,n:i,width:n,
height:o,dark:a}=this;if(!n)return;let r=zt(s),l=r.of(i),d=n>=620;this.ink=a?{ink:"#e4e7eb",soft:"#a3aeb9",line:"#3a434d",paper:"#15191e",mark:"\
#ff9d5c"}:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"};let c=[this.pointed,Number(this.chosen||NaN)].find(b=>l.
some(k=>k.row===b))??l[0].row;this.now=l.find(b=>b.row===c);let h=document.activeElement,p=t.contains(h)?h.dataset.row:null,f=_("svg",{width:n,
height:o,viewBox:`0 0 ${n} ${o}`,"font-size":12,"font-family":"system-ui, sans-serif",fill:this.ink.ink});f.append(_("rect",{width:n,height:o,
fill:this.ink.paper}));let v=d?{left:8,top:34,width:.52*n-16,height:o-40}:{left:6,top:30,width:n-12,height:.54*o-30},m=d?.48*n-62:n-52,w=Math.
min(et,Math.max(...r.classes.map(b=>b.length))),$=m/r.classes.length<7*w,x=$?34+4.3*w:36,j=d?{left:.52*n+46,top:58,width:m,height:o-82-x,turned:$,
foot:x}:{left:40,top:.54*o+50,width:m,height:.46*o-60-x,turned:$,foot:x},M=(b,k,g,z=15)=>f.append(_("text",{x:k,y:g,"font-size":z},b)),O=r.kept(
i)===1?"it is least sure":"the draws disagree most";M(d&&r.kept(i)>1?`Images on which ${O}`:`Where ${O}`,v.left+(this.mark.hidden?4:18),22),
l.forEach((b,k)=>f.append(this.tile(r,b,k,l.length,v))),f.append(Xt(this,r,j)),t.style.height=`${o}px`,t.replaceChildren(f),this.painting=!0,
p&&t.querySelector(`[data-row="${p}"]`)?.focus(),this.painting=!1,this.drawn={rows:l.map(b=>b.row),row:c},this.name()}describe(t){this.words=
t,this.name()}name(){if(!this.now||!this.words)return;let{classes:t,of:s}=zt(this.member),i=s(this.n).map(n=>t[n.label]).join(", ");this.plot.
setAttribute("aria-label",`${this.words} Labels of the images: ${i}; in the chart test image ${this.now.row}, label ${t[this.now.label]}.`)}tile(t,{
place:s,row:i,label:n,nats:o},a,r,{left:l,top:d,width:c,height:h}){let f=Math.ceil(r/4),v=c/4,m=Math.min(v-10,h/f-48),w=m+48,$=l+a%4*v+(v-m)/
2,x=d+Math.floor(a/4)*w,{member:j,tools:M,lit:O,n:b,ink:k}=this,g=t.kept(b),{classes:z}=t,E=new Map;for(let C=0;C<g;C++){let R=this.best(t,C,
s);E.set(R,(E.get(R)??0)+1)}let y=[...E].sort((C,R)=>R[1]-C[1]),L=O!==null&&O<g?this.best(t,O,s):null,F=L===null?y.map(([C,R])=>`${z[C]??"no\
ne"}${g>1?`×${R}`:""}`).join(" "):`${v>110?`draw ${O+1}: `:""}${z[L]??"none"}, ${Gt(t.prob(O,s,L))}`,N=Math.floor((v-8)/6.9),ft=K(F,N),J=o.
toFixed(2),ve=[`${z[n]} · ${J} nats`,`${z[n]} · ${J}`].find(C=>C.length<=N)??`${K(z[n],N-J.length-3)} · ${J}`,jt=`test image ${i}, label ${z[n]}\
, disagreement ${o.toFixed(2)} nats; answers ${F}`,be=_("image",{x:$,y:x,width:m,height:m,href:Yt(i,j.meta.images,M.index.images),style:"ima\
ge-rendering:pixelated"}),xe={x:$-1,y:x-1,width:m+2,height:m+2,fill:"none"},pt=this.now.row===i,ge=L!==null&&L!==n;return _("g",{"data-row":i,
role:"button",tabindex:0,"aria-label":jt,"aria-pressed":pt,style:"cursor:pointer"},_("title",{},jt),be,_("rect",{...xe,stroke:pt?k.mark:k.line,
"stroke-width":pt?3:1}),_("text",{x:$+m/2,y:x+m+16,"text-anchor":"middle"},ve),_("text",{x:$+m/2,y:x+m+32,"text-anchor":"middle","font-size":11.5,
class:"fv-said","font-weight":L===null?400:600,fill:L===null?k.soft:ge?k.mark:k.ink},ft))}best(t,s,i){let n=NaN,o=-1;return t.classes.forEach(
(a,r)=>{let l=t.prob(s,i,r);l>o&&([n,o]=[r,l])}),n}async image(t,s=1){let{width:i,height:n}=this,o=this.plot.firstChild.cloneNode(!0);o.setAttribute(
"xmlns","http://www.w3.org/2000/svg");let a=`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(o))}`;if(t==="svg")
return a;let r=await tt(a),l=u("canvas",{width:i*s,height:n*s});return l.getContext("2d").drawImage(r,0,0,l.width,l.height),l.toDataURL("ima\
ge/png")}};var $t={tab:"",compare:null,picked:null,chosen:{},step:-1},it=class{past;model;most;when;acted;changed;methods;constructor(t,{n_max:s,members:i},n,o){
this.model=t,this.most=s,this.methods=i.map(a=>a.method),this.changed=n,this.acted=o,this.past=[],this.last="",this.when=0,this.start=this.all}get all(){
let{model:t}=this,s=Math.max(1,Math.min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:s,...$t,...t.
get("look")??{}}}change(t){let s=Object.keys(t).join(),i=Date.now();(s!==this.last||i-this.when>700)&&this.past.push(this.all),this.past.length>
100&&this.past.shift(),this.last=s,this.when=i,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:s,n_draws:i,...n}){let o=Object.
fromEntries(Object.keys($t).map(a=>[a,n[a]??$t[a]]));for(let[a,r]of Object.entries({method:t,radius:s,n_draws:i,look:o}))this.model.set(a,r);
this.model.save_changes(),this.changed()}undo(){this.last="",this.acted(this.start),this.past.length&&this.put({...this.past.pop(),step:this.
all.step})}reset(){this.change({...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:s,n_draws:i,tab:n,compare:o,picked:a,
chosen:r,step:l}=this.all,d=new URLSearchParams({method:t,radius:s,draws:i});n&&d.set("tab",n),o&&d.set("b",`${o.radius}:${o.method}`),a!==null&&
d.set("draw",a+1),l!==this.start.step&&d.set("step",l+1);for(let[c,h]of Object.entries(r))d.set(`see.${c}`,h);return`#${d}`}read(t){let s=new URLSearchParams(
t.replace(/^#/,"")),i={},n=(l,d)=>{let c=s.has(l)?Number(s.get(l)):NaN;return c>=d&&Number.isFinite(c)?c:null};this.methods.includes(s.get("\
method"))&&(i.method=s.get("method")),n("radius",0)!==null&&(i.radius=n("radius",0)),n("draws",1)!==null&&(i.n_draws=Math.round(n("draws",1))),
s.has("tab")&&(i.tab=s.get("tab")),n("draw",1)!==null&&(i.picked=Math.round(n("draw",1))-1),n("step",0)!==null&&(i.step=Math.round(n("step",
1))-1);let[,o,a]=s.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];a!==void 0&&Number.isFinite(Number(o))&&(i.compare={method:a,radius:Number(o)});
let r=[...s].filter(([l])=>l.startsWith("see.")).map(([l,d])=>[l.slice(4),d]);r.length&&(i.chosen=Object.fromEntries(r)),Object.keys(i).length&&
this.put({...this.start,...i})}};var We="http://www.w3.org/1998/Math/MathML",Pe={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},Re=["max","min","log","KL","E"],Ie=[
"∑","max","min"],qe=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,S=(e,...t)=>({tag:e,inside:t});function Ue(e){let s=(e.replace(
/\\text\{[^}]*\}/g,l=>l.replaceAll(" "," ")).match(qe)??[]).filter(l=>!/^ +$/.test(l)),i=0,n=()=>{let l=[];for(;i<s.length&&s[i]!=="}";)l.push(
a());return i+=1,l.length===1?l[0]:S("mrow",...l)},o=()=>{let l=s[i++]??"";if(l==="{")return n();let d=l.startsWith("\\")?l.slice(1):"";if(d===
"frac")return S("mfrac",o(),o());if(d==="sqrt")return S("msqrt",o());if(d==="text"){let h=++i;for(;i<s.length&&s[i]!=="}";)i+=1;return{tag:"\
mtext",text:s.slice(h,i++).join("")}}if(Re.includes(d))return{tag:"mo",text:d};let c=d?Pe[d]??d:l;return/^[0-9.]+$/.test(c)?{tag:"mn",text:c}:
c.endsWith("′")?S("mrow",{tag:"mi",text:c[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(c)?{tag:"mi",text:c}:{tag:c===" "?"mtext":"mo",text:c}},
a=()=>{let l=o(),d={};for(;s[i]==="_"||s[i]==="^";)d[s[i++]]=o();let{_:c,"^":h}=d,p=Ie.includes(l.text??"");return c&&h?S(p?"munderover":"ms\
ubsup",l,c,h):c?S(p?"munder":"msub",l,c):h?S("msup",l,h):l},r=[];for(;i<s.length;)r.push(a());return S("math",S("mrow",...r))}function Zt({tag:e,
text:t,inside:s=[]}){let i=document.createElementNS(We,e);return t&&(i.textContent=t),t==="′"&&i.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&i.setAttribute("stretchy","false"),i.append(...s.map(Zt)),i}function Qt(e){let t=Zt(Ue(e));return t.setAttribute("display","blo\
ck"),t}var H=class{method;wanted;stops;stopsOf;first;constructor(t,s){this.change=s,this.remembered={};let i=t?` ${t}`:"";this.letter=u("span",{class:"\
fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`method${i}`}),this.radius=u("input",{type:"range",
class:"fv-radius",min:0,step:1,"aria-label":`radius${i}`}),this.text=u("output"),this.node=u("div",{class:"fv-side"},this.letter,u("label",{},
u("span",{},`method${i}`),this.select),u("label",{},u("span",{},`radius${i}`),this.radius,this.text)),this.select.addEventListener("change",
()=>{this.remembered[this.method]=this.wanted;let n=this.select.value,o=this.stopsOf(n);s({method:n,radius:this.remembered[n]??this.first(n)??
o[Math.ceil((o.length-1)/2)]})}),this.radius.addEventListener("input",()=>s({radius:this.stops[Number(this.radius.value)]}))}show(t,s,i,n=!1){
let o=i.map(([l,,d])=>`${l}:${d.length}`).join()+t;o!==this.key&&(this.key=o,this.stopsOf=l=>i.find(d=>d[0]===l)[2],this.first=l=>i.find(d=>d[0]===
l)[4],this.select.replaceChildren(...i.map(([l,d])=>{let c=u("option",{value:l},d);return c.selected=l===t,c}))),this.method=t,this.wanted=s,
this.stops=this.stopsOf(t),this.radius.max=Math.max(1,this.stops.length-1),this.radius.disabled=this.stops.length<2,this.radius.value=Y(this.
stops,s);let a=i.find(l=>l[0]===t)[3],r=this.stops.length<2?"none":`${A(s)} ${a}${s===0?" (= VI)":""}`;this.text.textContent=n?this.stops.length<
2?"no radius":`radius ${A(s)}`:r,this.radius.setAttribute("aria-valuetext",r)}},Ke=1200,He={duration:800,easing:"cubic-in-out"},nt=class{next;constructor(t,s){
this.next=t,this.timer=0,this.button=W("Play",s,()=>this.timer?this.halt():this.go(!0))}get glide(){return this.timer&&!St.matches?He:void 0}go(t){
this.timer=setTimeout(()=>this.go(!1),Ke),this.next(t)?this.button.textContent="Pause":this.halt()}halt(){clearTimeout(this.timer),this.timer=
0,this.button.textContent="Play"}};function te(e,t){let s=u("div",{}),i=u("details",{class:"fv-menu"},u("summary",{},e),s);for(let[n,o]of t){
let a=()=>{i.open=!1,o()};s.append(u("button",{type:"button",onclick:a},n))}return i.addEventListener("keydown",n=>{n.key==="Escape"&&(i.open=
!1,i.firstChild.focus())}),i.addEventListener("focusout",n=>{n.relatedTarget&&!i.contains(n.relatedTarget)&&(i.open=!1)}),i}var Je={"λ₁":"\
the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",NLL:"negative log likelihood: mean \
of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is from the share of right answers; low i\
s good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler divergence: how far one distribution\
 is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function ee(e){let t=new Set,s=i=>i.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).
map((n,o)=>o%2===0||t.has(n)?n:(t.add(n),u("abbr",{title:Je[n],tabindex:0},n)));return e.split(`
`).filter(Boolean).map(i=>i.startsWith("= ")?u("p",{class:"fv-equation"},Qt(i.slice(2))):u("p",{},...i.split("**").flatMap((n,o)=>o%2?u("b",
{},...s(n)):s(n))))}var ot=class{page;story;constructor(t,s){this.story=t,this.page=s,this.explored=null,this.rest=0,this.sections=t.map(i=>u("section",{},u("h2",
{},i.title),...ee(i.text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(
this.rest),this.rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).
paddingTop):0}reads({step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:s}=this,i=s+.45*(window.innerHeight-s),n=Math.
max(0,t.findLastIndex(o=>o.getBoundingClientRect().top<i));return n<t.length-1?n:-1}follow(){let{page:{state:t,resting:s},story:i}=this,n=this.
inSight(),o=t.all;if(s()||n===o.step)return;o.step<0&&(this.explored=o);let{method:a,radius:r,n_draws:l}=t.start;t.acted({step:n}),t.put(n<0&&
this.explored||{method:a,radius:r,n_draws:l,...i.at(n).set,step:n})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==
t&&(this.sections[t]??this.page.stage).scrollIntoView()}};var Ve=40,Ye=450;async function Mt(e,t){for(let[s,i,n]of e){let{method:o,radius:a}=n.member.meta;bt(await n.image(t,t==="png"?2:1),["flatviz",
i.name,o,a||"",s==="B"?"b":""].filter(Boolean).join("-")+`.${t}`)}}async function se({el:e,state:t,member:s,radii:i,shown:n}){let o=t.all,{method:a,
label:r}=s.meta,l=[];for(let M of i){for(t.put({...o,radius:M});e.dataset.state!==`${a}/${M}/${o.n_draws}`;)await new Promise(requestAnimationFrame);
l.push({radius:M,images:await Promise.all(n().map(async([,,O])=>tt(await O.image("png"))))})}t.put(o);let d=Math.max(...l.map(({images:M})=>M.
reduce((O,b)=>O+b.width,0))),c=Math.max(...l.flatMap(({images:M})=>M.map(O=>O.height))),h=u("canvas",{width:d+d%2,height:c+Ve+c%2}),p=h.getContext(
"2d"),{color:f,backgroundColor:v,fontFamily:m}=getComputedStyle(e),w=[],$=["video/mp4","video/webm"].find(M=>MediaRecorder.isTypeSupported(M)),
x=new MediaRecorder(h.captureStream(),{mimeType:$,videoBitsPerSecond:4e6}),j=new Promise(M=>{x.addEventListener("stop",M)});x.addEventListener(
"dataavailable",({data:M})=>w.push(M)),x.start();for(let{radius:M,images:O}of[...l,...l.slice(0,-1).reverse(),l[0]])Object.assign(p,{fillStyle:v,
font:`600 18px ${m}`}),p.fillRect(0,0,h.width,h.height),O.reduce((b,k)=>(p.drawImage(k,b,0),b+k.width),0),p.fillStyle=f,p.fillText(`${r}, ra\
dius ${M}`,14,h.height-14),await new Promise(b=>{setTimeout(b,Ye)});x.stop(),await j,bt(URL.createObjectURL(new Blob(w,{type:$})),`flatviz-${a}\
-radius.${$?.slice(6)}`)}function ie(e,t,{n_draws:s}){let i=e.filter(([,n])=>n.kind==="plotly").map(([,n,{member:{meta:o}}])=>`fv.widgets.pl\
ot_view(family, ${JSON.stringify(n.name)}, method=${JSON.stringify(o.method)}, radius=${o.radius}, n_draws=${s})`);return["import flatviz as\
 fv","",...t.code??[],...i].join(`
`)}var at=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,s){
let{node:i}=this;i.hidden=!1,i.value=t,i.select(),navigator.clipboard?.writeText(t).then(()=>i.setAttribute("aria-label",`${s}, copied`),()=>{});
let n=o=>{o.target!==i&&(i.hidden=!0,document.removeEventListener("pointerdown",n))};document.addEventListener("pointerdown",n)}};function ne(e){e.dataset.lmSuppressShortcuts="true";let t=s=>{!s.ctrlKey&&!s.metaKey&&!s.altKey&&!(s.shiftKey&&s.key==="Enter")&&s.stopPropagation()};
return e.addEventListener("keydown",t),()=>e.removeEventListener("keydown",t)}var oe=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
`;function ae(e){let{state:t,index:s,members:i,hash:n,ask:o}=e;e.a=new H("",a=>t.change(a)),e.b=new H("B",a=>t.change({compare:{method:e.b.method,
radius:e.b.wanted,...a}})),e.draws=u("input",{type:"range",class:"fv-draws",min:1,max:s.n_max,step:1,"aria-label":"ensemble size"}),e.drawsText=
u("output"),e.draws.addEventListener("input",()=>t.change({n_draws:Number(e.draws.value)})),e.compare=W("Compare","two states side by side, \
on the same scales",()=>{let a=e.current(),r=i.methods.find(l=>l==="vi"&&l!==a.a.method)??a.a.method;t.change({compare:a.b?null:{method:r,radius:i.
stops(r)[0]}})}),e.player=new nt(a=>Xe(e,a),"go through the fitted radii of this method"),e.undo=W("Undo","take the last change back",()=>t.
undo()),e.copied=new at,e.more=te("Menu",[["Reset",()=>t.reset()],["Copy as code",()=>e.copied.take(ie(e.shown(),s,t.all),"code")],...n?[["C\
opy link",()=>e.copied.take(new URL(t.hash,location.href).href,"link")]]:[],["Save as SVG",()=>Mt(e.shown(),"svg")],["Save as PNG",()=>Mt(e.
shown(),"png")],...globalThis.MediaRecorder?[["Save film of the radius",()=>{let{member:a}=e.current().a;se({el:e.el,state:t,member:a,radii:i.
fitted(a.meta.method),shown:()=>e.shown()})}]]:[]]),e.bar=u("progress",{max:1,value:0,"aria-label":"share of the fit that is done"}),e.said=
u("span",{role:"status"}),e.button=W("Stop","stop or start fitting",()=>o?.(e.button.textContent==="Stop"?"stop":"run")),e.bands=W("Bands ov\
er seeds","fit every member again with two more seeds, behind the picture",()=>o?.("seeds")),e.bands.hidden=s.seeds!==1,e.work=u("div",{class:"\
fv-work"},e.button,e.bar,e.said,e.bands),e.work.hidden=!i.live,e.note=u("div",{class:"fv-note",role:"alert",hidden:""})}function Xe(e,t){let{
a:{method:s,member:i}}=e.current(),{radius:n}=i.meta,o=e.members.fitted(s),a=o.find(r=>r>n)??(t?o[0]:void 0);return a===void 0||o.length<2?!1:
(t&&e.state.past.push(e.state.all),e.state.put({...e.state.all,radius:a}),!0)}function re(e){let{el:t,index:s,state:i}=e,n=[...new Set(s.figures.
map(r=>r.group))];e.controls=u("div",{class:"fv-controls",role:"group","aria-label":"controls"},e.a.node,u("label",{},u("span",{},"ensemble \
size"),e.draws,e.drawsText),e.b.node);let o=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},e.player.button,e.compare,e.undo,
e.more);e.reading=u("p",{class:"fv-reading"}),e.readingB=u("p",{class:"fv-reading",hidden:""}),e.spoken=u("div",{"aria-live":"polite"},e.reading,
e.readingB),e.names=n.length>1?[...n,"All"]:n;let a=`fv-panel-${Math.random().toString(36).slice(2)}`;e.tabs=Ze(e,a),e.grid=u("div",{class:"\
fv-figures",role:"tabpanel",id:a,"aria-label":"pictures",tabindex:0}),e.head=u("div",{class:"fv-bar"},e.controls,e.work,e.note,e.spoken,u("d\
iv",{class:"fv-strip"},e.tabs,o)),e.stage=u("div",{class:"fv-stage"},e.head,e.copied.node,e.grid),e.article=new ot(s.story??[],{el:t,stage:e.
stage,state:i,resting:()=>e.stopped||e.printing||!e.placed}),t.classList.add("flatviz"),ne(t),t.replaceChildren(u("style",{},oe),u("div",{class:"\
fv-body"},e.article.node,e.stage))}function Ze(e,t){let{names:s,state:i}=e,n=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"});
return e.tabButtons=s.map(o=>{let a=u("button",{type:"button",role:"tab","aria-controls":t},o);return a.addEventListener("click",()=>i.change(
{tab:o})),a}),n.append(...e.tabButtons),n.addEventListener("keydown",o=>{let a={ArrowRight:1,ArrowLeft:-1}[o.key];if(!a)return;let r=(s.indexOf(
e.layout.tabOf(i.all))+a+s.length)%s.length;i.change({tab:s[r]}),e.tabButtons[r].focus()}),n.hidden=s.length<2,n}function rt(e,t){let{a:s,b:i,
n_draws:n}=t,{members:o,draws:a,drawsText:r,layout:l}=e,{offered:d}=o,{narrow:c}=l;e.a.show(s.method,t.radius,d,c),e.a.letter.textContent=i?
"A":"",e.b.node.hidden=!i,i&&e.b.show(i.method,t.compare.radius,d,c),a.value=n,a.disabled=[s,i].every(m=>!m||m.member.meta.n_draws===1),r.textContent=
a.disabled?"one point":Q(n,"draw"),a.setAttribute("aria-valuetext",r.textContent),e.compare.setAttribute("aria-pressed",!!i),e.compare.textContent=
i?"One state":"Compare",e.undo.disabled=!e.state.past.length,e.player.button.disabled=o.of(s.method).length<2;let h=e.hovered??t.picked,p=c&&
l.reads(t),f=(m,w)=>[(i?`${w}: `:"")+(p?o.numbers(m,n):o.sentence(m,n)),u("span",{class:"fv-draw"},h===null?"":o.aboutDraw(m,h))];e.reading.
replaceChildren(...f(s,"A")),e.readingB.hidden=!i,i&&e.readingB.replaceChildren(...f(i,"B"));let v=l.tabOf(t);e.el.classList.toggle("fv-draw\
n",e.frames.some(m=>l.inTab(m,v)&&Object.keys(m.entry(t.chosen).link).length>0)),e.tabButtons.forEach((m,w)=>{m.setAttribute("aria-selected",
e.names[w]===v),m.tabIndex=e.names[w]===v?0:-1})}function lt(e){let{layout:t,el:s}=e,i=e.current();t.arrange(i),rt(e,i),!e.placed&&!e.stopped&&(e.placed=!0,e.article.goTo());let n=X()&&!e.printing;
s.dataset.theme=n?"dark":"light",e.pending=e.frames.filter(a=>!a.node.hidden).flatMap(a=>Qe(e,a,i));for(let a of e.pending)a.height=t.height(
i,a.frame),a.most=e.printing?1/0:t.reads(i)||i.b&&s.clientWidth<640?a.height:t.screen-t.tall(e.head,i)-8,a.picture.state&&(a.width=a.picture.
plot.clientWidth);let o=({frame:a})=>{let{top:r,bottom:l}=a.node.getBoundingClientRect();return l<0||r>window.innerHeight};t.tabOf(i)==="All"&&
e.pending.sort((a,r)=>Number(o(a))-Number(o(r))),le(e,i,n)}function Qe(e,t,s){let i=t.entry(s.chosen),n=i.kind==="plotly"&&!i.binds.length,o=s.
b&&!n?{A:s.a,B:s.b}:{A:s.a};if(t.shown!==`${i.name}/${Object.keys(o)}`){t.shown=`${i.name}/${Object.keys(o)}`,t.node.dataset.name=i.name;for(let[
r,l]of Object.entries(i.option))t.menus[r].value=l;let a=Object.keys(o).map(r=>t.made[i.name+r]??=new(i.kind==="images"?st:q)(i,r,e.tools));
t.pair.replaceChildren(...a.map(r=>r.node))}return t.caption.textContent!==i.caption&&(t.caption.textContent=i.caption),Object.entries(o).flatMap(
([a,{member:r}])=>{let l=t.made[i.name+a],d=!!r.meta.waiting?.includes(i.name);return l.node.classList.toggle("fv-waits",d),d?[]:(l.mark.hidden=
!s.b||n,[{frame:t,picture:l,member:r,entry:i,height:0,most:0,width:void 0}])})}function le(e,t,s){let{members:i,pending:n,el:o}=e,a=performance.
now()+(e.printing?1e9:30);for(;n.length;){let{frame:r,picture:l,member:d,entry:c,height:h,most:p,width:f}=n.shift();l.draw(d,t.n_draws,{height:h,
most:p,width:f,dark:s,phone:e.layout.narrow,ranges:i.ranges(c),transition:e.player.glide})&&l.light(e.hovered??t.picked);let[v]=(c.layout.title?.
text??"").split("<br>");if(r.about.firstChild.textContent=l.narrow&&v?`${v}: what is this?`:"What is this?",l.print&&!r.caption.textContent.
endsWith(l.print)&&r.caption.append(l.print),l.describe(`${d.meta.alts[c.name]}. ${i.sentence({member:d,wanted:d.meta.radius,method:d.meta.method},
t.n_draws)}`),performance.now()>a&&n.length){requestAnimationFrame(()=>{e.pending===n&&!e.stopped&&le(e,t,s)});return}}if(o.dataset.state=`${t.
a.method}/${t.a.member.meta.radius}/${t.n_draws}`,o.dataset.shown=t.a.member.meta.note?"preview":"fitted",o.dataset.look=`${e.layout.tabOf(t)}${t.
b?` | ${t.b.method}/${t.b.member.meta.radius}`:""}`,e.hash&&!e.stale){let r=location.hash;e.later("address",()=>{location.hash===r&&history.
replaceState(null,"",e.state.hash)},100)}e.stale&&performance.mark("flatviz-drawn"),e.stale=!1,i.live&&e.later("shot",()=>e.photograph(),1500)}function de(e){let{el:t,state:s,model:i,article:n}=e,o=[],a=0,r=(c,h,p,f)=>{c.addEventListener(h,p,f),o.push(()=>c.removeEventListener(h,p))},
l=["radius","n_draws","method","look"].map(c=>`change:${c}`);for(let c of l)i.on(c,e.schedule);let d=new ResizeObserver(()=>{e.stopped||!t.clientWidth||
(t.clientWidth!==a&&(a=t.clientWidth,e.placed=!1,e.layout.arrange(e.current()),e.schedule()),e.pictures.forEach(c=>c.resize()),e.mark())});[
t,e.grid].forEach(c=>d.observe(c)),o.push(Z(e.schedule),()=>d.disconnect(),()=>l.forEach(c=>i.off?.(c,e.schedule))),r(window,"beforeprint",()=>ce(
e,!0)),r(window,"afterprint",()=>ce(e,!1)),r(window,"resize",e.schedule),n.story.length&&r(window,"scroll",n.scrolled,{passive:!0}),e.hash&&
(r(window,"hashchange",()=>{location.hash!==s.hash&&(s.read(location.hash),e.placed=!1)}),location.hash.length>1&&s.read(location.hash)),e.forget=
()=>o.forEach(c=>c())}function ce(e,t){e.printing=t,e.el.style.width=t?"660px":"",lt(e),t&&e.pictures.forEach(s=>s.resize())}var he=e=>Object.values(e.option).join(", "),ct=class{entries;choose;menus;slot;constructor(t,s){this.pair=u("div",{class:"fv-pair"}),this.caption=
u("p"),this.about=u("details",{open:""},u("summary",{},"What is this?"),this.caption),this.choice=u("div",{class:"fv-choice",hidden:""}),this.
node=u("figure",{},this.choice,this.pair,u("figcaption",{},this.about)),this.slot=t.slot,this.group=t.group,this.span=t.span,this.least=t.least,
this.choose=s,this.entries=[],this.menus={},this.made={},this.shown=""}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<2}offer(t){
for(let s of Object.keys(this.entries[0].option)){let i=[...new Set(this.entries.map(o=>o.option[s]))],n=u("select",{"aria-label":`${s} of t\
his picture`},...i.map(o=>u("option",{value:o},o)));n.addEventListener("change",()=>{let o=this.entry(t()).option,a=l=>Object.keys(o).filter(
d=>l.option[d]===o[d]).length,r=this.entries.filter(l=>l.option[s]===n.value);this.choose(he(r.reduce((l,d)=>a(d)>a(l)?d:l)))}),this.menus[s]=
n,i.length>1&&this.choice.append(n)}}entry(t){return this.entries.find(s=>he(s)===t[this.slot])??this.entries[0]}},dt=class{page;frames;tallest;constructor(t,s){
this.frames=t,this.page=s,this.tallest=new Map}tabOf({tab:t}){let{names:s,printing:i}=this.page;return i()?"All":s.includes(t)?t:s[0]}inTab(t,s){
return s==="All"||t.group===s}reads(t){return this.page.article.reads(t)&&!this.page.printing()}get narrow(){return this.page.el.clientWidth<
640&&!this.page.printing()}get screen(){return this.page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}spread(t,s){
let i=r=>r.reduce((l,d)=>l+d,0),n=i(s.map(r=>r.span)),o=s.map(r=>Math.ceil(12*r.least/this.page.grid.clientWidth)),a=s.map(r=>Math.max(3,Math.
round(12*r.span/n)));return a.some((r,l)=>r<o[l])&&i(o)<=12&&o.every(Boolean)&&(a=o),a[a.length-1]+=12-i(a),a[s.indexOf(t)]}arrange(t){let{page:s,
frames:i}=this,{el:n,grid:o,tabs:a,compare:r,undo:l,names:d,article:{story:c}}=s,h=s.printing(),p=n.clientWidth,f=this.tabOf(t),v=this.reads(
t),m=p>=900,w=i.filter(y=>this.inTab(y,f)),$={narrow:p<640||h,beside:m&&!h,above:!m&&!h,two:t.b,reads:v,story:c.length&&!h};for(let[y,L]of Object.
entries($))n.classList.toggle(`fv-${y}`,!!L);for(let y of[a,r,l])y.hidden=v||y===a&&d.length<2;let x=y=>o.clientWidth*this.spread(y,w)/12<y.
least;v&&(!m||t.b||w.some(x))&&(w=[w.find(y=>y.entries.some(L=>L.name===c[t.step].set?.see))??w[0]]);let j=w.reduce((y,L)=>y+L.span,0),M=f!==
"All"&&(j<=12||w.length<3)&&!t.b,O=M&&w.some(x),b=p<1e3||t.b,k=[[]],g=(y,L)=>b?12/L.length:this.spread(y,L);for(let y of w){let L=[...k.at(-1)??
[],y],F=L.some(N=>o.clientWidth*g(N,L)/12<N.least);L.length>1&&(F||L.reduce((N,ft)=>N+(b?6:ft.span),0)>12)&&k.push([]),k.at(-1)?.push(y)}let z=y=>g(
y,k.find(L=>L.includes(y))??[y]),E=p<640&&!h;for(let y of i)y.tap!==E&&(Object.assign(y,{tap:E}).about.open=!E),y.node.hidden=!w.includes(y),
v&&!m&&t.b?y.pair.tabIndex=0:y.pair.removeAttribute("tabindex"),y.node.style.gridColumn=(t.b||O)&&f!=="All"?"span 12":M?`span ${this.spread(
y,w)}`:`span ${z(y)}`}tall(t,s){let{el:i,note:n}=this.page,o=[i.clientWidth,!!s.b,this.reads(s),n.textContent].join(),a=this.tallest.get(t),
r=t.hidden?0:Math.max(t.offsetHeight,a?.place===o?a.px:0);return this.tallest.set(t,{place:o,px:r}),r}height(t,s){let{el:i,head:n,stage:o}=this.
page,a=this.page.printing(),r=x=>this.tall(x,t),{height:l,layout:d}=s.entry(t.chosen),{screen:c}=this,h=this.reads(t);if(h&&i.clientWidth<900)
return o.clientHeight-r(n)-r(s.about.firstChild)-r(s.choice)-24;let p=Object.keys(d).filter(x=>/^[xy]axis/.test(x)).length>2;if(t.b&&this.narrow)
return p?440:Math.max(230,Math.round((c-r(n)-40)/2));let f=300;if(a)return l;if(this.tabOf(t)==="All")return Math.max(f,Math.min(l,c-r(n)-40));
let v=i.closest(".jp-Notebook")?0:i.getBoundingClientRect().top+window.scrollY,m=x=>h?r(x.choice)+r(x.caption):t.b?36:80,w=24+(h?Math.max(...this.
frames.filter(x=>!x.node.hidden).map(m)):m(s)),$=c-r(n)-Math.max(w,i.clientWidth>=1e3&&v<.3*c?v+48:0);return Math.round(Math.max(f,Math.min(
t.b?440:560,$)))}};var fe=e=>t=>`${e} ${t.toFixed(3)}`,pe={accuracy:e=>`accuracy ${(100*e).toFixed(1)} %`,nll:e=>`NLL ${e.toFixed(3)} nats`,ece:fe("ECE"),rmse:e=>`\
RMSE ${A(e)}`},ts={...pe,accuracy:e=>`${(100*e).toFixed(1)} % right`,nll:fe("NLL")},ht=class{live;list;index;fields;constructor(t,s){this.index=
t.index,this.fields=t.index.fields,this.live=s,this.list=mt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.
list.filter(s=>s.meta.method===t)}fitted(t){return this.of(t).filter(s=>!s.meta.note).map(s=>s.meta.radius).sort((s,i)=>s-i)}stops(t){let s=this.
live?this.index.stops[t]??[]:[];return[...new Set([...this.of(t).map(i=>i.meta.radius),...s])].sort((i,n)=>i-n)}standing(t,s){let i=this.methods.
includes(t)?t:this.methods[0],n=this.of(i);return{method:i,wanted:s,member:n[Y(n.map(o=>o.meta.radius),s)]}}get offered(){return this.methods.
map(t=>{let{label:s,unit:i}=this.of(t)[0].meta;return[t,s,this.stops(t),i,this.index.defaults[t]]})}add(t){for(let s of mt(t)){let i=this.list.
findIndex(n=>n.meta.method===s.meta.method&&n.meta.radius===s.meta.radius);i>=0&&(s.version=(this.list[i].version??0)+1),i<0?this.list.push(
s):this.list[i]=s}}ranges(t){let s={};for(let i of t.shared){let n=this.list.flatMap(o=>o.meta.ranges[t.name]?.[i]??[]);n.length&&(s[i]=[Math.
min(...n),Math.max(...n)])}return s}scores(t,s=pe){return Object.entries(s).filter(([i])=>i in this.fields).map(([i,n])=>n(t(i)))}sentence({
method:t,member:s,wanted:i},n){let o=c=>D(this.fields,s,c),a=c=>o(c)[n-1],r=s.meta.radius,l=Math.abs(r-i)>1e-6*Math.max(1,i)&&this.of(t).length>
1?`radius ${A(i)} is not fitted; shown: `:"",d=r>0?`, radius ${A(r)}${s.meta.reach??""}`:s.meta.equals?`, radius 0, which is ${s.meta.equals}`:
"";return`${l}${s.meta.label}${d}${s.meta.note??""}, ${Q(Math.min(n,s.meta.n_draws),"draw")}: `+(Number.isFinite(a("nll"))?`${this.scores(a).
join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(o("lambda1")[0])?`largest eigenvalue λ₁ ${A(o("lambda1")[0])}.`:"no l\
argest eigenvalue λ₁ was found.")}numbers({member:t},s){let i=o=>D(this.fields,t,o)[s-1],[n]=D(this.fields,t,"lambda1");return Number.isFinite(
i("nll"))?`${this.scores(i,ts).join(", ")}, λ₁ ${A(n)}`:"diverged"}aboutDraw({member:t},s){let i=D(this.fields,t,"draw loss")[s],n=D(this.
fields,t,"draw distance")[s];return Number.isFinite(i)?` Draw ${s+1}: training loss ${A(i)}, ${A(n)} off the plane.`:""}};function Lt(e){return new Ot(e).handle}var Ot=class{a;b;draws;drawsText;compare;player;undo;copied;more;bar;said;button;bands;work;note;controls;reading;readingB;spoken;names;tabs;tabButtons;grid;head;stage;article;pending=[];hovered=null;timers={};waiting=!1;stopped=!1;busy=!1;printing=!1;placed=!1;stale=!0;frames=[];forget=()=>{};constructor({
Plotly:t,model:s,el:i,bundle:n,ask:o=null,hash:a=!1,former:r=null}){let{index:l}=n;G(l.dark),this.Plotly=t,this.model=s,this.el=i,this.index=
l,this.ask=o,this.hash=a,this.schedule=this.schedule.bind(this),this.members=new ht(n,!!(l.live&&o)),this.state=new it(s,l,this.schedule,x=>{
["method","radius","compare","step"].some(j=>j in x)&&this.player.halt()}),r&&Object.assign(this.state,r),ae(this),re(this);for(let x of l.figures)
this.place(x);for(let x of this.frames)x.offer(()=>this.state.all.chosen);let{grid:d,head:c,stage:h,note:p,tabs:f,compare:v,undo:m,names:w,article:$}=this;
this.layout=new dt(this.frames,{el:i,grid:d,head:c,stage:h,note:p,tabs:f,compare:v,undo:m,names:w,article:$,printing:()=>this.printing}),de(
this),this.schedule()}current(){let t=this.state.all,s=t.compare;return{...t,a:this.members.standing(t.method,t.radius),b:s&&this.members.standing(
s.method,s.radius)}}get tools(){let{Plotly:t,index:s,members:{list:i},state:n}=this;return{Plotly:t,index:s,members:i,point:(o,a)=>this.point(
o,a),choose:(o,a)=>this.choose(o,a),chosen:()=>n.all.chosen,redraw:this.schedule,replace:o=>o.light(this.lit)}}get lit(){return this.hovered??
this.state.all.picked}choose(t,s){this.state.change({chosen:{...this.state.all.chosen,[t]:s}})}place(t){let s=t.slot?this.frames.find(i=>i.slot===
t.slot&&i.group===t.group):null;s||(s=new ct(t,i=>this.choose(t.slot,i)),this.grid.append(s.node),this.frames.push(s)),s.add(t)}get pictures(){
return this.frames.flatMap(t=>Object.values(t.made))}shown(){return this.frames.filter(t=>!t.node.hidden).flatMap(t=>{let s=t.entry(this.state.
all.chosen);return["A","B"].map(i=>[i,s,t.made[s.name+i]]).filter(([,,i])=>i?.node.isConnected&&i.state)})}later(t,s,i){clearTimeout(this.timers[t]),
this.timers[t]=setTimeout(s,i)}schedule(){this.waiting||this.stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&
(this.el.isConnected?lt(this):setTimeout(this.schedule,100))}))}point(t,s){let{state:i}=this;if(t==="click"){i.change({picked:i.all.picked===
s?null:s});return}this.hovered!==s&&(this.hovered=s,rt(this,this.current()),this.mark())}mark(){this.pictures.forEach(t=>t.light(t.plot.clientWidth?
this.lit:null))}async photograph(){if(!this.el.isConnected||this.busy&&this.el.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),
1500);return}let t=await Promise.all(this.shown().slice(0,2).map(([,,s])=>s.image("png")));this.stopped||this.ask("picture",{images:t,text:this.
spoken.innerText})}get handle(){let t=i=>(...n)=>this[i](...n),{state:s}=this;return{get history(){return{past:s.past,start:s.start}},add:t(
"add"),status:t("status"),lost:t("lost"),stop:t("stop")}}add(t){this.members.add(t);for(let s of t.index.figures??[]){let i=Object.assign(this.
index.figures.find(o=>o.name===s.name),s),{made:n}=this.frames.find(o=>o.entries.includes(i));(s.data||s.layout)&&["A","B"].forEach(o=>n[i.name+
o]?.renew())}this.schedule()}status({share:t,text:s,busy:i,error:n}){this.busy=i,this.bar.value=t,this.said.textContent=s,this.button.textContent=
i?"Stop":"Run",this.bands.disabled=i,this.note.hidden=!n,this.note.textContent=n??""}lost(t){this.members.live=!1,this.work.hidden=!0,this.note.
hidden=!1,this.note.textContent=t,this.schedule()}stop(){this.stopped=!0,this.player.halt(),Object.values(this.timers).forEach(clearTimeout),
this.forget(),this.pictures.forEach(t=>this.Plotly.purge(t.plot))}};var Et=e=>document.getElementById(e),me=e=>JSON.parse(Et(e).textContent??""),es=()=>new Promise(e=>{requestAnimationFrame(()=>setTimeout(e))});
async function ue(e){let t=new Blob([U(me(e))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function ss(){performance.mark("flatviz-start");let e=me("flatviz-start"),t=Et("explorer"),s={get:r=>e[r],set:(r,l)=>{
e[r]=l},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await es();let[i,n]=await Promise.all([ue("flatviz-index"),ue("flatviz-records")]),o=document.createElement("script");o.textContent=
Et("plotly").textContent,document.head.append(o);let a={index:JSON.parse(new TextDecoder().decode(i)),buffer:_t(n)};Lt({Plotly:globalThis.Plotly,
model:s,el:t,bundle:a,hash:!0})}return Me(is);})();
