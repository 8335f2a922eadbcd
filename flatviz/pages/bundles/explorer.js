var flatvizExplorer=(()=>{var wt=Object.defineProperty;var Ne=Object.getOwnPropertyDescriptor;var je=Object.getOwnPropertyNames;var Ce=Object.prototype.hasOwnProperty;var Re=(n,t)=>{for(var e in t)wt(n,e,{get:t[e],enumerable:!0})},Be=(n,t,e,s)=>{if(t&&typeof t=="object"||typeof t=="function")for(let i of je(
t))!Ce.call(n,i)&&i!==e&&wt(n,i,{get:()=>t[i],enumerable:!(s=Ne(t,i))||s.enumerable});return n};var De=n=>Be(wt({},"__esModule",{value:!0}),n);var Ds={};Re(Ds,{isDark:()=>nt,learnColors:()=>st,onThemeChange:()=>it,recolored:()=>U,show:()=>Dt,start:()=>Bs});function yt(n){let{index:t}=n,e=n.buffer instanceof ArrayBuffer?n.buffer:n.buffer.buffer.slice(n.buffer.byteOffset,n.buffer.byteOffset+n.buffer.
byteLength),s=t.record;return t.members.map((i,o)=>({meta:i,data:new Float32Array(e,o*s*4,s),read:new Map}))}var J=n=>Uint8Array.from(atob(n),
t=>t.charCodeAt(0));function Wt(n){let t=n.length/4,e=new Uint8Array(n.length);for(let s=0;s<4;s++)for(let i=0;i<t;i++)e[4*i+s]=n[s*t+i];return e}
function Pt(n,[t,...e]){if(!e.length)return Array.from(n);let s=n.length/t;return Array.from({length:t},(i,o)=>Pt(n.subarray(o*s,(o+1)*s),e))}
function It(n,t,e){let s=t.read.get(e);if(s)return s;let{offset:i,shape:o}=n[e],a=t.data.subarray(i,i+o.reduce((r,c)=>r*c,1)),l=Pt(a,o);return t.
read.set(e,l),l}var q=(n,t,e)=>It(n,t,e);function qt({field:n,rows:t},e,s,i){let o=s.meta.words[n];if(o!==void 0)return o;let a=It(e,s,n);return t===
"draws"?a.slice(0,i):t==="segments"?a.slice(0,3*i):t==="size"?a[Math.min(i,a.length)-1]:a}function tt(n,[t,...e],s){let i=Array.isArray(n)?[
...n]:{...n};return i[t]=e.length?tt(i[t]??{},e,s):s,i}function et(n,t){let e=i=>i>0?Math.log10(i):-1/0,s=i=>i===t?0:Math.abs(e(i)-e(t));return n.
reduce((i,o,a)=>s(o)<s(n[i])?a:i,0)}var zt={"#1f2933":"#e4e7eb","#6b7780":"#a3aeb9","#e4e7eb":"#323b45","#ffffff":"#15191e","#fff":"#15191e"},Fe=["colorscale","bdata"];function st(n){
for(let[t,e]of Object.entries(n))zt[t]??=e}function nt(){let{body:n,documentElement:t}=document;return n.dataset.jpThemeLight?n.dataset.jpThemeLight===
"false":t.dataset.theme?t.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches}function We(n,...t){let e=t.slice(0,3).map(
l=>Number(l).toString(16).padStart(2,"0")),s=zt[`#${e.join("")}`];if(!s||n.startsWith("rgba(255"))return n;let[i,o,a]=[1,3,5].map(l=>parseInt(
s.slice(l,l+2),16));return`rgba(${i}, ${o}, ${a}, ${t[3]})`}function U(n){return kt(n)}function kt(n){return typeof n=="string"?n.length<4?n:
n.replace(/#(?:[0-9a-f]{6}|fff)\b/gi,t=>zt[t.toLowerCase()]??t).replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g,We):Array.isArray(n)?typeof n[0]==
"number"?n:n.map(kt):n===null||typeof n!="object"||ArrayBuffer.isView(n)?n:Object.fromEntries(Object.entries(n).map(([t,e])=>[t,Fe.includes(
t)?e:kt(e)]))}function it(n){let t=matchMedia("(prefers-color-scheme: dark)"),e=new MutationObserver(n);return e.observe(document.body,{attributes:!0,
attributeFilter:["data-jp-theme-light"]}),e.observe(document.documentElement,{attributes:!0,attributeFilter:["data-theme"]}),t.addEventListener(
"change",n),()=>{e.disconnect(),t.removeEventListener("change",n)}}function u(n,t={},...e){let s=document.createElement(n);for(let[i,o]of Object.entries(t))typeof o=="function"?s.addEventListener(i.slice(2),
o):o!=null&&o!==!1&&s.setAttribute(i,o===!0?"":String(o));return s.append(...e.filter(i=>i!=null)),s}function z(n,t={},...e){let s=document.
createElementNS("http://www.w3.org/2000/svg",n);for(let[i,o]of Object.entries(t))s.setAttribute(i,String(o));return s.append(...e),s}var B=(n,t,e,s={})=>u(
"button",{type:"button",title:t,onclick:e,...s},n),K=n=>n.getContext("2d"),S=n=>Number(n.toPrecision(3)).toString(),ot=(n,t)=>`${n} ${t}${n===
1?"":"s"}`,Ut=globalThis.matchMedia?.("(prefers-reduced-motion: reduce)")??{matches:!1};async function at(n){let t=new Image;return t.src=n,
await t.decode(),t}function $t(n,t){let e=u("a",{href:n,download:t});document.body.append(e),e.click(),e.remove()}var Y=n=>Object.keys(n).filter(t=>/^[xy]axis\d*$/.test(t)),H=n=>n.margin?.t??n.template.layout.margin.t;function Kt({layout:n,data:t},e,s,i){
let{xaxis:o,yaxis:a}=n;if(!a?.scaleanchor||n.xaxis2)return null;let[l,r]=[e.xaxis??o?.range,e.yaxis??a.range],c=t.some(g=>g.colorbar)?130:20,
d=l&&r?(l[1]-l[0])/(r[1]-r[0]):1,h=Pe({data:t,layout:n}).reduce((g,m)=>g+44+7.2*m.length,0),f=Math.max((i-H(n)-92)*d,h),p=(s-60-c-f)/2;return p<
8?null:{margin:{...n.margin,t:H(n),l:60+p,r:c+p}}}function Ht(n,t){let e=["","2","3","4"].filter(l=>n[`xaxis${l}`]),s=e.length>1&&e.every(l=>!n[`\
yaxis${l}`]?.domain);if(t>=460||!s)return n;let i=.1,o=(1-i*(e.length-1))/e.length,a={...n};return e.forEach((l,r)=>{let c=1-r*(o+i),d=r===e.
length-1,h=n[`xaxis${l}`];a[`xaxis${l}`]={...h,domain:[0,1],showticklabels:d,title:d?h?.title:{text:""}},a[`yaxis${l}`]={...n[`yaxis${l}`],domain:[
Math.max(0,c-o),c],showticklabels:!0,nticks:4,title:r===1?n.yaxis?.title:{text:""}}}),{...a,margin:{...n.margin,t:58}}}var Mt=({mode:n,name:t,
showlegend:e,visible:s})=>n&&t&&e!==!1&&s!==!1,Pe=({data:n,layout:t})=>t.showlegend===!1?[]:n.filter(Mt).map(({name:e})=>e??"");function Vt({
data:n,layout:t},e,s){let i=s-(t.margin?.t??76)-(t.margin?.b??92),o=r=>{let c=i/(.54*(r.title?.text??"").length),d={...r.title?.font,size:Math.
max(10,Math.min(15,c))};return{...r,title:{...r.title,font:d}}},a=n.map(r=>r.colorbar?.title?.text?{...r,colorbar:o(r.colorbar)}:r),l={...t};
for(let r of Y(t)){let c=t[r]??{},[d,h]=c.domain??[0,1],f=r[0]==="y"?i:e-60,[p]=(c.title?.text??"").split("<br>"),g=f*(h-d)/(.54*p.replace(/<[^>]*>/g,
"").length),m={...c.title?.font,size:Math.max(9,g)};g<15&&(l[r]={...c,title:{...c.title,font:m}})}return{data:a,layout:Ie(l,e)}}function Ie(n,t){
let{scene:e}=n,s=460/t;if(!e?.camera||s<=1)return n;let i=Object.entries(e.camera.eye).map(([c,d])=>[c,d*s**.7]),o={...e.camera,eye:Object.fromEntries(
i)},a=({title:c})=>c?.text?.replace(/ of [^)]*\)/,")"),l=(c,d=a(c))=>({...c,title:{...c.title,text:d,font:{size:10}},tickfont:{size:9}}),r={
xaxis:l(e.xaxis),yaxis:l(e.yaxis),zaxis:l(e.zaxis,"")};return{...n,scene:{...e,...r,camera:o}}}function Jt({data:n,layout:t},e,s){let i=t.annotations?.some(({yref:c,y:d=0})=>c==="paper"&&d>=1),o=Math.max(0,H(t)-76)+(i?16:0),a=17*Yt({data:Ot(
n),layout:t},e).length,l=(s?12:36)+Math.min(34,o)+a;return{margin:{...t.margin,t:l,b:48,l:e<240?40:50,r:12}}}function Yt({data:n,layout:t},e){
if(t.showlegend===!1)return[];let s=[],i=0;for(let{name:o="",mode:a="",marker:l,line:r}of n.filter(Mt)){let c=/markers/.test(a),d=c&&typeof l?.
color=="string"?l.color:r?.color,h=/cross/.test(l?.symbol??"")?"✚":"●",f=26+6.6*o.length;f>i&&(s.push([]),i=e-24),i-=f;let p=`${c?h:"–"}\
 ${o}`;s[s.length-1].push(`<span style="color:${d??"#1f2933"}">${p}</span>`)}return s.map(o=>o.join("   "))}function Xt(n,t){let e=Yt(n,t),{
annotations:s=[],margin:i}=n.layout;if(!e.length)return{};let o={text:e.join("<br>"),font:{size:11},x:0,y:1,xref:"paper",yref:"paper",xanchor:"\
left",yanchor:"bottom",xshift:8-(i?.l??0),yshift:4,align:"left",showarrow:!1};return{showlegend:!1,annotations:[...s,o]}}var Gt=({type:n,mode:t="",
name:e="",showlegend:s,visible:i})=>n==="scatter"&&/lines/.test(t)&&e!==""&&e.length<11&&s!==!1&&i!==!1,Ue=(n=[])=>Array.isArray(n)?n.length:
atob(n.bdata).length/Number(n.dtype[1]);function Ot(n){if(n.some(s=>s.type==="scatter"&&s.mode==="markers"&&s.visible!==!1))return n;let t=n.
filter(Gt).length,e=0;return n.map(s=>{if(!Gt(s))return s;let i=Ue(s.y),o=i>2&&i<60,a=o?e++*Math.max(1,Math.floor(i/t)):0,l=o?Math.max(0,i-1-
a):i-1;return{...s,showlegend:!1,mode:`${s.mode}+text`,text:Array.from({length:i},(r,c)=>c===l?s.name:""),textposition:i<60?"top left":"top \
center",textfont:{size:12,color:s.line?.color},cliponaxis:!1}})}function Zt(n){return n.colorbar?{...n,colorbar:{...n.colorbar,thickness:9,xpad:4,
tickfont:{size:10},title:{...n.colorbar.title,font:{size:10.5}}}}:n}var Qt=({xaxis:n})=>{let[,...t]=(n?.title?.text??"").replace(/<\/?span[^>]*>/g,
"").split("<br>");return t.length?` (${t.join("; ")}.)`:""};function te(n,t){let{title:e,legend:s,annotations:i,xaxis:o}=n,[,...a]=(e?.text??
"").split("<br>"),l=t?a.join("<br>"):e?.text,r=(h="")=>Math.max(...h.split("<br>").map(f=>f.length)),c={...n,title:{...e,text:l,font:{...e?.
font,size:12}},legend:{...s,font:{...s?.font,size:11}}};i&&(c.annotations=i.map(h=>({...h,font:{...h.font,size:r(h.text)>54?8.5:10}})));let[
d]=(o?.title?.text??"").split("<br>");return d&&(c.xaxis={...o,title:{...o?.title,text:d}}),c}var Lt=n=>`${n[0]}axis${n.slice(1)}`;function ee(n,t){let e=Object.entries(t).map(([s,i])=>`${s}:${i.toFixed(1)}px`);return u("div",{class:n,style:e.join(";")})}var St=(n,t)=>Math.
max(1,Math.round(n.length/t));function Ke(n,t,e,s){let i=n._fullLayout?.[Lt(t.xaxis??"x")],o=n._fullLayout?.[Lt(t.yaxis??"y")];if(!i?.d2p||!o?.
d2p||!t.x)return[];let a=[];for(let l=e*s;l<(e+1)*s&&l<t.x.length;l++){let r=n.offsetLeft+i._offset+i.d2p(t.x[l]),c=n.offsetTop+o._offset+o.
d2p(t.y[l]);Number.isFinite(r)&&Number.isFinite(c)&&a.push({left:r,top:c})}return a}function se(n,{link:t},e,s){let i=n._fullLayout;if(!i)return[];
let o=n._fullData.flatMap(d=>{let h=t[d.name??""];if(!h)return[];let f=h==="draws"?1:St(d.x??[],s);return Ke(n,d,e,f).map(p=>ee("fv-ring",p))}),
{xaxis:a}=i;if(t.x!=="sizes"||!a?.d2p)return o;let{t:l,h:r}=i._size,c=n.offsetLeft+a._offset+a.d2p(e+1);return[...o,ee("fv-rule",{left:c,top:n.
offsetTop+l,height:r})]}var He=/^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/,ne=/^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/,
ie={scatter:"scatterlayer",bar:"barlayer",contour:"contourlayer",heatmap:"heatmaplayer"},At=["contour","heatmap"];function _t(n,t){return Array.
isArray(n)&&Array.isArray(t)?n.length===t.length&&n.every((e,s)=>_t(e,t[s])):Object.is(n,t)}function Et(n,t,e){let s=t.split("."),i=s[s.length-
1],o=n;for(let a of s.slice(0,-1))o=o[a];Object.assign(o,{[i]:e})}function oe(n,t,e,s,i){let o=[],a=[];for(let[f,p]of e){let[,g="",m=""]=f.match(
He)??[];if(m&&Number.isInteger(t._fullData?.[Number(g)]?.index)&&Array.isArray(p))o.push({i:Number(g),path:m,value:p});else if(ne.test(f))a.
push([f,p]);else return!1}let r=[...new Set(o.map(({i:f})=>f))].filter(f=>t._fullData[f].visible===!0);if(!r.every(f=>Ge(t,t._fullData[f])))
return!1;for(let{i:f,path:p,value:g}of o)Et(t.data[f],p,g),r.includes(f)&&Et(t._fullData[f],p,g);if(!r.every(f=>Je(t,f)))return!1;Ve(n,t,a);
let c=new Map;for(let f of r){let p=t._fullData[f];c.set(`${p.type} ${D(p)}`,p)}let d=i?null:r,h=[...c.values()].map(f=>Xe(t,d,f,s));for(let f of new Set(
h))f?.style(t);return!0}function Ve(n,t,e){let s={};for(let[i,o]of e){let[,a,l,r]=i.match(ne)??[],d=(a==="shapes"?t.layout.shapes:t.layout.annotations)?.[Number(
l)];d&&(Et(d,r,o),s[`${a}[${l}].opacity`]=d.opacity??1)}Object.keys(s).length&&n.relayout(t,s)}var D=n=>n.xaxis+n.yaxis;function Ge(n,t){let e=n.
_fullLayout?._plots?.[D(t)],s=ie[t.type];if(!e||!s||t.zorder||!n.calcdata?.[t.index]?.[0]?.trace)return!1;let{calc:i,plot:o,style:a}=t._module;
return[i,o,a].every(l=>typeof l=="function")&&!e.plot.select(`.${s}`).empty()}function Je(n,t){let e=n._fullData[t],{t:s}=n.calcdata[t][0],i=n.
_fullLayout?._plots[D(e)],a=(i?[i.xaxis,i.yaxis]:[]).filter(d=>d.autorange),l=()=>At.includes(e.type)||a.every(d=>Ye(n,e,d)),r=l();At.includes(
e.type)||(e._length=Math.min(e.x.length,e.y.length));let c=e._module.calc(n,e);return c[0].trace=e,c[0].t={...s,...c[0].t},n.calcdata[t]=c,r&&
l()}function Ye(n,t,e){let i=n._fullData.find(d=>At.includes(d.type)&&d.visible===!0&&D(d)===D(t))?._extremes?.[e._id],o=t._extremes?.[e._id];
if(!i?.min?.length||!o)return!1;let a=Math.abs(e.range[1]-e.range[0])/e._length,l=Math.min(...i.min.map(d=>d.val)),r=Math.max(...i.max.map(d=>d.
val)),c=({pad:d,extrapad:h})=>a*(d+(h?e._length/20:0));return o.min.every(d=>d.val-c(d)>=l)&&o.max.every(d=>d.val+c(d)<=r)}function Xe(n,t,e,s){
let{type:i,_module:o}=e,a=D(e),l=n._fullLayout?._plots[a];if(!l)return null;let r=m=>m?.type===i&&m.visible===!0&&m._length!==0&&D(m)===a,c=n.
calcdata.filter(([{trace:m}])=>r(m)),d=l.plot.select(`.${ie[i]}`);if(o.crossTraceCalc?.(n,l),c.forEach(Ze),i!=="scatter")return o.plot(n,l,c,
d),o;let h=d.selectAll("g.trace").size()===c.length,f=c.every(([{trace:m}])=>!/^tonext/.test(m.fill??"")&&!m.stackgroup),p=h&&t&&!s&&f;if(p){
let m=c.filter(([{trace:b}])=>t.includes(b.index));for(let b of m)o.plot(n,l,[b],d,{duration:0})}else o.plot(n,l,c,d,s);l.zoomScalePts=d.selectAll(
".trace").selectAll("path.point");let g=c.some(([{trace:m}])=>m.error_y?.visible||m.error_x?.visible);return p&&!g?null:o}function Ze(n){let{
error_y:t}=n[0].trace;t?.visible&&n.forEach((e,s)=>{let i=e.i??s,{y:o=NaN}=e,a=t.array[i],l=(t.symmetric?t.array:t.arrayminus)[i];[o,a,l].every(
Number.isFinite)&&(e.yh=o+a,e.ys=o-l)})}function ae(n){for(let{plot:t}of Object.values(n._fullLayout?._plots??{}))t?.selectAll("*").interrupt().
transition().duration(0)}var Qe=matchMedia("(pointer: coarse)"),ts=460,V=class{state="";scene="";width=0;revision=0;glides=0;narrow=!1;print="";values=[];member=null;rings=[];constructor(t,e,s){
this.entry=t,this.tools=s,this.mark=u("span",{class:"fv-letter",hidden:""},e),this.plot=u("div",{role:"group"}),this.node=u("div",{class:"fv\
-plot"},this.mark,this.plot)}draw(t,e,s){let{entry:i,plot:o,tools:a}=this,{dark:l,transition:r,phone:c}=s,d=this.take(s),{width:h,height:f,ranges:p,
placed:g}=d;this.narrow=!!d.narrow&&c;let m=i.binds.some(({rows:O})=>O!=="all"),b=[g&&h,l,f,JSON.stringify(p)].join("/"),{method:v,radius:x}=t.
meta,$=[b,v,x,t.version??0,m?e:""].join("/");if(this.state===$)return this.resize(h),!1;let y=i.binds.map(O=>qt(O,a.index.fields,t,e)),w=!this.
state,M=w||this.scene!==b?null:this.changesTo(y,l);this.state=$,this.scene=b,this.member=t,this.values=y;let _=performance.now(),j=_<this.glides;
return j&&ae(o),this.glides=r?_+r.duration+100:0,M&&oe(a.Plotly,o,M,r,j)?this.resize(h):this.drawWhole(d,c,l,w),!0}take({height:t,most:e,width:s=this.
plot.clientWidth,phone:i,ranges:o}){let{entry:a}=this,{layout:l}=a,r=s<ts?Jt(a,s,i):null,c=l.yaxis?.scaleanchor,d=l.xaxis2?Y(l).filter(p=>p[0]===
"x").length:1,h=t;if(c&&r&&d===1){let{t:p,b:g,l:m,r:b}=r.margin,v=p+g+s-m-b-66;h=Math.round(Math.min(v,Math.max(e,p+g+85)))}else if(c&&!r){let p=d>
1?(s-160)/d+70:s-100;h=Math.round(Math.max(300,Math.min(t,H(l)+p)))}let f=r??Kt(a,o,s,h);return{width:s,height:h,ranges:o,narrow:r,placed:f}}drawWhole(t,e,s,i){
let{plot:o,tools:a}=this,{width:l,height:r}=t,{data:c,layout:d}=this.composed(t,e);Qe.matches&&(d.dragmode=!1);let h=s?U(c):c.map(f=>({...f}));
this.width=l,o.style.height=`${r}px`,a.Plotly.react(o,h,s?U(d):d,a.index.config),i?this.listen():o._fullLayout?.width!==l&&a.Plotly.Plots.resize(
o)}composed({width:t,height:e,ranges:s,narrow:i,placed:o},a){let{entry:l}=this;this.revision+=1;let r={uirevision:"kept",datarevision:this.revision},
c={data:l.data,layout:{...l.layout,height:e,...r}};l.binds.forEach(({path:d},h)=>{c=tt(c,d.split("."),this.values[h])});for(let[d,h]of Object.
entries(s))c=tt(c,["layout",d,"range"],h);return o&&(c.layout={...c.layout,margin:o.margin}),c.layout=Ht(c.layout,t),c=Vt(c,t,e),i&&(c.data=
Ot(c.data).map(Zt)),this.print=i?Qt(c.layout):"",i&&(c.layout=te({...c.layout,...Xt(c,t)},a)),c}changesTo(t,e){return this.entry.binds.flatMap(
({path:s},i)=>{let o=t[i];return _t(o,this.values[i])?[]:[[s,e?U(o):o]]})}renew(){this.state&&(this.state="elsewhere",this.scene="")}describe(t){
this.plot.setAttribute("aria-label",t)}resize(t=this.plot.clientWidth){let e=this.plot._fullLayout?.width??t;!this.state||!t||t===this.width&&
Math.abs(e-t)<2||(this.width=t,this.tools.Plotly.Plots.resize(this.plot))}listen(){let{plot:t,tools:e}=this,s=i=>o=>{let a=this.drawOf(o);a!==
null&&e.point(i,a)};t.on("plotly_hover",s("hover")),t.on("plotly_click",s("click")),t.on("plotly_unhover",()=>e.point("hover",null)),t.on("p\
lotly_relayout",()=>e.replace(this))}drawOf({points:[t]=[]}){let{member:e}=this;if(!t||!e)return null;let{link:s}=this.entry,i=s[t.data.name??
""];return i==="draws"?t.pointNumber:i==="eigenvalues"?Math.floor(t.pointNumber/St(t.data.x,e.meta.n_spectra)):s.x==="sizes"?Math.round(t.x)-
1:null}light(t){for(let e of this.rings)e.remove();this.rings=[],!(t===null||!this.state||!this.member)&&(this.rings=se(this.plot,this.entry,
t,this.member.meta.n_spectra),this.node.append(...this.rings))}async image(t,e=1){let{width:s,height:i}=this.plot._fullLayout??{};return this.
tools.Plotly.toImage(this.plot,{format:t,width:s,height:i,scale:e})}};var es=255,ss=254;function Tt(n){return n.images??=ns(n.meta.images),n.images}function ns({pool:n,labels:t,shown:e,nats:s,n_draws:i,classes:o,
probs:a}){let l=J(a);return{classes:o,kept:r=>Math.min(r,i),prob(r,c,d){let h=l[(r*n.length+c)*o.length+d];return h===es?NaN:h/ss},of:r=>e[r-
1].map((c,d)=>({place:c,row:n[c],label:t[c],nats:s[r-1][d]}))}}var re=new WeakMap;function le(n,...t){for(let e of t){let{rows:s=[],pixels:i="",
shape:o=[]}=e??{},a=s.indexOf(n);if(!e||a<0)continue;let l=re.get(e)??{bytes:J(i),urls:new Map};re.set(e,l);let r=l.urls.get(n)??is(l.bytes,
a,o);return l.urls.set(n,r),r}return""}function is(n,t,[e,s,i=1]){let o=u("canvas",{width:s,height:e}),a=K(o),l=a.createImageData(s,e);for(let r=0;r<
e*s;r++){let c=(t*e*s+r)*i;for(let d=0;d<3;d++)l.data[4*r+d]=n[c+(i>1?d:0)];l.data[4*r+3]=255}return a.putImageData(l,0,0),o.toDataURL()}var rt=12,
X=(n,t)=>n.length>t?`${n.slice(0,Math.max(1,t-1))}…`:n,ce=n=>`${(100*n).toFixed(0)} %`;var lt=4,de=48;function he(n,t,e){let s=NaN,i=-1;return n.classes.forEach((o,a)=>{let l=n.prob(t,e,a);l>i&&([s,i]=[a,l])}),s}function os({items:n,
n:t},e){let s=new Map;for(let i=0;i<n.kept(t);i++){let o=he(n,i,e);s.set(o,(s.get(o)??0)+1)}return[...s].sort((i,o)=>o[1]-i[1])}function as(n,{
place:t,label:e},s){let{items:i,n:o,lit:a}=n,{classes:l}=i,r=i.kept(o);if(a===null||a>=r)return{said:os(n,t).map(([p,g])=>`${l[p]??"none"}${r>
1?`×${g}`:""}`).join(" "),one:!1,wrong:!1};let c=he(i,a,t);return{said:`${s>110?`draw ${a+1}: `:""}${l[c]??"none"}, ${ce(i.prob(a,t,c))}`,one:!0,
wrong:c!==e}}function fe(n,t,e,s,{left:i,top:o,width:a,height:l}){let{member:r,ink:c,now:d,pixels:h,items:f}=n,p=a/lt,g=Math.min(p-10,l/Math.
ceil(s/lt)-de),m=i+e%lt*p+(p-g)/2,b=o+Math.floor(e/lt)*(g+de),{said:v,one:x,wrong:$}=as(n,t,p),y=Math.floor((p-8)/6.9),w=f.classes[t.label],
M=t.nats.toFixed(2),j=[`${w} · ${M} nats`,`${w} · ${M}`].find(P=>P.length<=y)??`${X(w,y-M.length-3)} · ${M}`,O=`test image ${t.row}, labe\
l ${w}, disagreement ${M} nats; answers ${v}`,C=d.row===t.row,F={x:m+g/2,"text-anchor":"middle"},W={"data-row":t.row,role:"button",tabindex:0,
"aria-label":O,"aria-pressed":C,style:"cursor:pointer"};return z("g",W,z("title",{},O),z("image",{x:m,y:b,width:g,height:g,href:le(t.row,r.meta.
images,h),style:"image-rendering:pixelated"}),z("rect",{x:m-1,y:b-1,width:g+2,height:g+2,fill:"none",stroke:C?c.mark:c.line,"stroke-width":C?
3:1}),z("text",{...F,y:b+g+16},j),z("text",{...F,y:b+g+32,"font-size":11.5,class:"fv-said","font-weight":x?600:400,fill:x?$?c.mark:c.ink:c.soft},
X(v,y)))}function pe(n,{left:t,top:e,width:s,height:i,turned:o,foot:a}){let{now:l,n:r,ink:c,lit:d,items:h,dark:f,member:p}=n,{classes:g}=h,m=h.kept(r),
b=s/g.length,v=k=>t+(k+.5)*b,x=k=>e+(1-k)*i,{color:$}=p.meta.images,y=z("g",{"data-chart":l.row}),w=(k,L)=>y.append(z("text",L,k));y.append(
z("rect",{x:t,y:e,width:s,height:i,fill:"transparent"}));for(let k of[0,.25,.5,.75,1]){let L={x1:t,x2:t+s,y1:x(k),y2:x(k)};y.append(z("line",
{...L,stroke:c.line})),w(String(k),{x:t-6,y:x(k)+4,"text-anchor":"end",fill:c.soft})}let M=e+i+16;g.forEach((k,L)=>{let R=0;for(let A=0;A<m;A++)
R+=h.prob(A,l.place,L);if(R/=m,Number.isFinite(R)){let A={class:"fv-mean",x:v(L)-.36*b,y:x(R),width:.72*b,height:R*i};y.append(z("rect",{...A,
fill:$,"fill-opacity":f?.6:.35}))}let xt={transform:`rotate(-40 ${v(L)} ${M})`,"text-anchor":"end"},I={"text-anchor":"middle","font-weight":L===
l.label?700:400};w(X(k,rt),{x:v(L),y:M,...I,...o?xt:{}})});let _=(k,L)=>{let R=g.map((I,A)=>[v(A),x(h.prob(k,l.place,A))]).filter(([,I])=>Number.
isFinite(I)).map(([I,A])=>`${I.toFixed(2)},${A.toFixed(2)}`),xt={"data-draw":k,points:R.join(" "),fill:"none"};y.append(z("polyline",{...xt,
"stroke-linejoin":"round",...L}))},j={stroke:f?c.ink:$,"stroke-width":1.2,"stroke-opacity":.55};for(let k=0;k<m;k++)_(k,j);let O=d!==null&&d<
m;O&&_(d,{stroke:c.mark,"stroke-width":3.5});let C={x:t-30,y:e-36,"font-size":15};w(`Test image ${l.row}, label ${g[l.label]}`,C);let F=O?`;\
 thick: draw ${d+1}`:"",W=`bars: mean of ${m} draws; lines: single draws${F}`;w(m===1?"one draw: its probabilities":W,{x:t-30,y:e-16,fill:c.
soft});let G={x:t+s/2,y:e+i+a,fill:c.soft};return w("class (bold: the label)",{...G,"text-anchor":"middle"}),{node:y,chart:{x:v,y:x,step:b,items:h}}}var rs=620,ls=14,cs={light:{ink:"#1f2933",soft:"#52606d",line:"#d9dee4",paper:"#ffffff",mark:"#b84a00"},dark:{ink:"#e4e7eb",soft:"#a3aeb9",line:"\
#3a434d",paper:"#15191e",mark:"#ff9d5c"}},Nt=({target:n},t)=>n instanceof Element?n.closest(t):null;function ds(n,t,e){let s=n>=rs,i=s?.48*n-
62:n-52,o=Math.min(rt,Math.max(...e.map(d=>d.length))),a=i/e.length<7*o,l=a?34+4.3*o:36,r=s?{left:8,top:34,width:.52*n-16,height:t-40}:{left:6,
top:30,width:n-12,height:.54*t-30},c=s?{left:.52*n+46,top:58,height:t-82-l}:{left:40,top:.54*t+50,height:.46*t-60-l};return{wide:s,tiles:r,chart:{
...c,width:i,turned:a,foot:l}}}var ct=class extends V{drawn=null;lit=null;pointed=null;now=null;chart=null;painting=!1;words="";constructor(t,e,s){
super(t,e,s),this.listenToTiles()}listenToTiles(){let{plot:t,tools:e}=this,s=o=>Nt(o,"[data-row]")?.dataset.row??"",i=o=>this.show(o?Number(
o):null);t.addEventListener("pointermove",o=>{let a=s(o);a?i(a):Nt(o,"[data-chart]")&&this.point("hover",o)}),t.addEventListener("pointerlea\
ve",()=>{this.show(null),e.point("hover",null)}),t.addEventListener("click",o=>{let a=s(o);a?e.choose("image",a):Nt(o,"[data-chart]")&&this.
point("click",o)}),t.addEventListener("keydown",o=>{let a=s(o);!a||o.key!=="Enter"&&o.key!==" "||(o.preventDefault(),e.choose("image",a))}),
t.addEventListener("focusin",o=>{let a=s(o);a&&!this.painting&&i(a)})}draw(t,e,{height:s,width:i=this.plot.clientWidth,dark:o}){let a=this.tools.
chosen().image??"",{method:l,radius:r}=t.meta,c=t.version??0,d=[i,l,r,c,e,o,s,a].join("/");return this.state===d?!1:(a!==this.drawn?.chosen&&
(this.pointed=null),this.state=d,this.member=t,this.drawn={member:t,n:e,width:i,height:s,dark:o,chosen:a},this.paint(),!0)}resize(){let{clientWidth:t}=this.
plot;!this.state||!this.drawn||!t||t===this.drawn.width||(this.drawn.width=t,this.paint())}light(t){this.lit===t||!this.state||(this.lit=t,this.
paint())}show(t){this.pointed===t||t===null&&!this.state||(this.pointed=t,this.paint())}point(t,e){let{chart:s,drawn:i,now:o}=this,a=this.plot.
firstElementChild;if(!s||!i||!o||!a)return;let{left:l,top:r}=a.getBoundingClientRect(),{x:c,y:d,step:h,items:f}=s,p=Math.floor((e.clientX-l-
c(0)+h/2)/h),g=Math.max(0,Math.min(f.classes.length-1,p)),m=v=>{let x=f.prob(v,o.place,g);return Number.isFinite(x)?Math.abs(d(x)-(e.clientY-
r)):1/0},b=0;for(let v=1;v<f.kept(i.n);v++)m(v)<m(b)&&(b=v);m(b)<ls?this.tools.point(t,b):t==="hover"&&this.tools.point("hover",null)}paint(){
let{drawn:t,plot:e,lit:s}=this;if(!t?.width)return;let{member:i,n:o,width:a,height:l,dark:r,chosen:c}=t,d=Tt(i),h=d.of(o),{wide:f,tiles:p,chart:g}=ds(
a,l,d.classes),m=cs[r?"dark":"light"],x=[this.pointed,Number(c||NaN)].map(P=>h.find(G=>G.row===P)).find(Boolean)??h[0],{activeElement:$}=document,
y=e.contains($)?$?.getAttribute("data-row"):null,w=z("svg",{width:a,height:l,viewBox:`0 0 ${a} ${l}`,"font-size":12,"font-family":"system-ui\
, sans-serif",fill:m.ink}),M=this.tools.index.images,_={member:i,items:d,n:o,dark:r,ink:m,lit:s,now:x,pixels:M},{node:j,chart:O}=pe(_,g),C=h.
map((P,G)=>fe(_,P,G,h.length,p)),F=z("rect",{width:a,height:l,fill:m.paper});w.append(F,this.title(d,o,f,p),...C,j),this.now=x,this.chart=O,
e.style.height=`${l}px`,e.replaceChildren(w),this.painting=!0;let W=y?e.querySelector(`[data-row="${y}"]`):null;W instanceof SVGElement&&W.focus(),
this.painting=!1,this.name()}title(t,e,s,i){let o=t.kept(e)===1,a=o?"it is least sure":"the draws disagree most",l=s&&!o?`Images on which ${a}`:
`Where ${a}`,r=i.left+(this.mark.hidden?4:18);return z("text",{x:r,y:22,"font-size":15},l)}describe(t){this.words=t,this.name()}name(){let{now:t,
words:e,drawn:s}=this;if(!t||!e||!s)return;let{classes:i,of:o}=Tt(s.member),a=o(s.n).map(c=>i[c.label]),l=`in the chart test image ${t.row},\
 label ${i[t.label]}`,r=`${e} Labels of the images: ${a.join(", ")}; ${l}.`;this.plot.setAttribute("aria-label",r)}async image(t,e=1){let s=this.
plot.firstElementChild?.cloneNode(!0);if(!(s instanceof SVGElement)||!this.drawn)return"";let{width:i,height:o}=this.drawn;s.setAttribute("x\
mlns","http://www.w3.org/2000/svg");let a=new XMLSerializer().serializeToString(s),l=`data:image/svg+xml,${encodeURIComponent(a)}`;if(t==="s\
vg")return l;let r=await at(l),c=u("canvas",{width:i*e,height:o*e});return K(c).drawImage(r,0,0,c.width,c.height),c.toDataURL("image/png")}};var ue={tab:"",compare:null,picked:null,chosen:{},step:-1},dt=class{past=[];last="";when=0;constructor(t,{n_max:e,members:s},i,o){this.model=
t,this.most=e,this.methods=s.map(a=>a.method),this.changed=i,this.acted=o,this.start=this.all}get all(){let{model:t}=this,e=Math.max(1,Math.
min(this.most,t.get("n_draws")));return{method:t.get("method"),radius:t.get("radius"),n_draws:e,...ue,...t.get("look")??{}}}change(t){let e=Object.
keys(t).join(),s=Date.now();(e!==this.last||s-this.when>700)&&this.past.push(this.all),this.past.length>100&&this.past.shift(),this.last=e,this.
when=s,this.acted(t),this.put({...this.all,...t})}put({method:t,radius:e,n_draws:s,...i}){let{tab:o,compare:a,picked:l,chosen:r,step:c}={...ue,
...i},{model:d}=this;d.set("method",t),d.set("radius",e),d.set("n_draws",s),d.set("look",{tab:o,compare:a,picked:l,chosen:r,step:c}),d.save_changes(),
this.changed()}undo(){this.last="",this.acted(this.start);let t=this.past.pop();t&&this.put({...t,step:this.all.step})}reset(){this.change({
...this.start,step:this.all.step}),this.last=""}get hash(){let{method:t,radius:e,n_draws:s,tab:i,compare:o,picked:a,chosen:l,step:r}=this.all,
c=new URLSearchParams({method:t,radius:`${e}`,draws:`${s}`});i&&c.set("tab",i),o&&c.set("b",`${o.radius}:${o.method}`),a!==null&&c.set("draw",
`${a+1}`),r!==this.start.step&&c.set("step",`${r+1}`);for(let[d,h]of Object.entries(l))c.set(`see.${d}`,h);return`#${c}`}read(t){let e=new URLSearchParams(
t.replace(/^#/,"")),s={},i=(d,h,f)=>{let p=e.has(d)?Number(e.get(d)):NaN;p>=h&&Number.isFinite(p)&&f(p)},o=e.get("method")??"";this.methods.
includes(o)&&(s.method=o),i("radius",0,d=>s.radius=d),i("draws",1,d=>s.n_draws=Math.round(d));let a=e.get("tab");a!==null&&(s.tab=a),i("draw",
1,d=>s.picked=Math.round(d)-1),i("step",0,d=>s.step=Math.round(d)-1);let[,l,r]=e.get("b")?.match(/^([\d.e+-]+):(.*)$/s)??[];r!==void 0&&Number.
isFinite(Number(l))&&(s.compare={method:r,radius:Number(l)});let c=[...e].filter(([d])=>d.startsWith("see.")).map(([d,h])=>[d.slice(4),h]);c.
length&&(s.chosen=Object.fromEntries(c)),this.last="",Object.keys(s).length&&this.put({...this.start,...s})}};var hs=30,fs=100,ps=1500;function ht(n){let{layout:t,el:e,frames:s}=n,i=n.current();t.arrange(i),n.bar.show(i),!n.placed&&!n.stopped&&(n.placed=
!0,n.article.goTo());let o=nt()&&!n.printing;e.dataset.theme=o?"dark":"light";let a=s.filter(({node:r})=>!r.hidden).flatMap(r=>ms(n,r,i));for(let r of a)
r.height=t.height(i,r.frame),r.most=us(n,i,r.height),r.picture.state&&(r.width=r.picture.plot.clientWidth);let l=({frame:r})=>{let{top:c,bottom:d}=r.
node.getBoundingClientRect();return d<0||c>window.innerHeight};t.tabOf(i)==="All"&&a.sort((r,c)=>Number(l(r))-Number(l(c))),n.pending=a,me(n,
i,o)}function us({printing:n,layout:t,el:e,bar:s},i,o){return n?1/0:t.reads(i)||i.b&&e.clientWidth<640?o:t.screen-t.tall(s.node,i)-8}function ms(n,t,e){
let{a:s,b:i}=e,o=t.entry(e.chosen),a=o.kind==="plotly"&&!o.binds.length,l=i&&!a?{A:s,B:i}:{A:s},r=Object.keys(l),c=`${o.name}/${r}`;if(t.shown!==
c){t.shown=c,t.node.dataset.name=o.name;for(let[f,p]of Object.entries(o.option))t.menus[f].value=p;let d=o.kind==="images"?ct:V,h=r.map(f=>t.
made[o.name+f]??=new d(o,f,n.tools));t.pair.replaceChildren(...h.map(({node:f})=>f))}return t.caption.textContent!==o.caption&&(t.caption.textContent=
o.caption),Object.entries(l).flatMap(([d,{member:h}])=>{let f=t.made[o.name+d],p=!!h.meta.waiting?.includes(o.name);return f.node.classList.
toggle("fv-waits",p),p?[]:(f.mark.hidden=!i||a,[{frame:t,picture:f,member:h,entry:o,height:0,most:0,width:void 0}])})}function me(n,t,e){let{
pending:s}=n,i=performance.now()+(n.printing?1e9:hs);for(let o=s.shift();o;o=s.shift())if(gs(n,t,e,o),performance.now()>i&&s.length){requestAnimationFrame(
()=>{n.pending===s&&!n.stopped&&me(n,t,e)});return}vs(n,t)}function gs(n,t,e,{frame:s,picture:i,member:o,entry:a,height:l,most:r,width:c}){let{
members:d,layout:h,bar:f}=n;i.draw(o,t.n_draws,{height:l,most:r,width:c,dark:e,phone:h.narrow,ranges:d.ranges(a),transition:f.player.glide})&&
i.light(n.lit);let[g]=(a.layout.title?.text??"").split("<br>");s.question.textContent=i.narrow&&g?`${g}: what is this?`:"What is this?",i.print&&
!s.caption.textContent?.endsWith(i.print)&&s.caption.append(i.print);let{alts:m,radius:b,method:v}=o.meta,x=d.sentence({member:o,wanted:b,method:v},
t.n_draws);i.describe(`${m[a.name]}. ${x}`)}function vs(n,t){let{el:e,layout:s,members:i}=n,{a:o,b:a}=t;e.dataset.state=`${o.method}/${o.member.
meta.radius}/${t.n_draws}`,e.dataset.shown=o.member.meta.note?"preview":"fitted";let l=a?` | ${a.method}/${a.member.meta.radius}`:"";if(e.dataset.
look=`${s.tabOf(t)}${l}`,n.hash&&!n.stale){let r=location.hash,c=()=>{location.hash===r&&history.replaceState(null,"",n.state.hash)};n.later(
"address",c,fs)}n.stale&&performance.mark("flatviz-drawn"),n.stale=!1,i.live&&n.later("shot",()=>n.photograph(),ps)}var bs="660px";function ve(n){let{el:t,grid:e,state:s,model:i,article:o}=n,a=[],l=0,r=(h,f,p={})=>{window.addEventListener(h,f,p),a.push(()=>window.
removeEventListener(h,f))},c=["radius","n_draws","method","look"].map(h=>`change:${h}`);for(let h of c)i.on(h,n.schedule);a.push(()=>c.forEach(
h=>i.off?.(h,n.schedule)));let d=new ResizeObserver(()=>{if(!(n.stopped||!t.clientWidth)){t.clientWidth!==l&&(l=t.clientWidth,n.placed=!1,n.
layout.arrange(n.current()),n.schedule());for(let h of n.pictures)h.resize();n.mark()}});for(let h of[t,e])d.observe(h);a.push(()=>d.disconnect()),
a.push(it(n.schedule)),r("beforeprint",()=>ge(n,!0)),r("afterprint",()=>ge(n,!1)),r("resize",n.schedule),o.story.length&&r("scroll",o.scrolled,
{passive:!0}),n.hash&&(r("hashchange",()=>{location.hash!==s.hash&&(s.read(location.hash),n.placed=!1)}),location.hash.length>1&&s.read(location.
hash)),n.forget=()=>a.forEach(h=>h())}function ge(n,t){if(n.printing=t,n.el.style.width=t?bs:"",ht(n),t)for(let e of n.pictures)e.resize()}var xs="http://www.w3.org/1998/Math/MathML",ws={alpha:"α",gamma:"γ",delta:"δ",lambda:"λ",theta:"θ",Delta:"Δ",nabla:"∇",sum:"∑",in:"\
∈",sim:"∼",approx:"≈",le:"≤",cdot:"·",mid:"|",parallel:"∥",to:"→",leftarrow:"←",quad:" "},ys=["max","min","log","KL","E"],ks=[
"∑","max","min"],zs=/\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu,N=(n,...t)=>({tag:n,inside:t});function $s(n){let e=(n.replace(
/\\text\{[^}]*\}/g,r=>r.replaceAll(" "," ")).match(zs)??[]).filter(r=>!/^ +$/.test(r)),s=0,i=()=>{let r=[];for(;s<e.length&&e[s]!=="}";)r.push(
a());return s+=1,r.length===1?r[0]:N("mrow",...r)},o=()=>{let r=e[s++]??"";if(r==="{")return i();let c=r.startsWith("\\")?r.slice(1):"";if(c===
"frac")return N("mfrac",o(),o());if(c==="sqrt")return N("msqrt",o());if(c==="text"){let h=++s;for(;s<e.length&&e[s]!=="}";)s+=1;return{tag:"\
mtext",text:e.slice(h,s++).join("")}}if(ys.includes(c))return{tag:"mo",text:c};let d=c?ws[c]??c:r;return/^[0-9.]+$/.test(d)?{tag:"mn",text:d}:
d.endsWith("′")?N("mrow",{tag:"mi",text:d[0]},{tag:"mo",text:"′"}):/^\p{L}$/u.test(d)?{tag:"mi",text:d}:{tag:d===" "?"mtext":"mo",text:d}},
a=()=>{let r=o(),c={};for(;e[s]==="_"||e[s]==="^";)c[e[s++]]=o();let{_:d,"^":h}=c,f=ks.includes(r.text??"");return d&&h?N(f?"munderover":"ms\
ubsup",r,d,h):d?N(f?"munder":"msub",r,d):h?N("msup",r,h):r},l=[];for(;s<e.length;)l.push(a());return N("math",N("mrow",...l))}function be({tag:n,
text:t,inside:e=[]}){let s=document.createElementNS(xs,n);return t&&(s.textContent=t),t==="′"&&s.setAttribute("lspace","0"),/^[()[\]|∥]$/.
test(t??"")&&s.setAttribute("stretchy","false"),s.append(...e.map(be)),s}function xe(n){let t=be($s(n));return t.setAttribute("display","blo\
ck"),t}var Z=class{method="";wanted=0;stops=[];offered=[];listed="";remembered={};constructor(t,e){let s=t?` ${t}`:"";this.letter=u("span",{class:"\
fv-letter","aria-hidden":"true"},t),this.select=u("select",{class:"fv-method","aria-label":`method${s}`}),this.radius=u("input",{type:"range",
class:"fv-radius",min:0,step:1,"aria-label":`radius${s}`}),this.text=u("output"),this.node=u("div",{class:"fv-side"},this.letter,u("label",{},
u("span",{},`method${s}`),this.select),u("label",{},u("span",{},`radius${s}`),this.radius,this.text)),this.select.addEventListener("change",
()=>{this.remembered[this.method]=this.wanted;let i=this.select.value,{stops:o,first:a}=this.offerOf(i),l=o[Math.ceil((o.length-1)/2)];e({method:i,
radius:this.remembered[i]??a??l})}),this.radius.addEventListener("input",()=>e({radius:this.stops[Number(this.radius.value)]}))}offerOf(t){return this.
offered.find(e=>e.method===t)??this.offered[0]}show(t,e,s,i=!1){this.offered=s;let{stops:o,unit:a}=this.offerOf(t);this.list(t),this.method=
t,this.wanted=e,this.stops=o;let l=o.length>1;this.radius.max=String(Math.max(1,o.length-1)),this.radius.disabled=!l,this.radius.value=String(
et(o,e));let r=l?`${S(e)} ${a}${e===0?" (= VI)":""}`:"none",c=l?`radius ${S(e)}`:"no radius";this.text.textContent=i?c:r,this.radius.setAttribute(
"aria-valuetext",r)}list(t){let e=this.offered.map(i=>i.method).join()+t;if(e===this.listed)return;this.listed=e;let s=this.offered.map(i=>{
let o=u("option",{value:i.method},i.label);return o.selected=i.method===t,o});this.select.replaceChildren(...s)}},Ms=1200,Os={duration:800,easing:"\
cubic-in-out"},ft=class{timer=0;constructor(t,e){this.next=t,this.button=B("Play",e,()=>this.timer?this.halt():this.go(!0))}get glide(){return this.
timer&&!Ut.matches?Os:void 0}go(t){this.timer=setTimeout(()=>this.go(!1),Ms),this.next(t)?this.button.textContent="Pause":this.halt()}halt(){
clearTimeout(this.timer),this.timer=0,this.button.textContent="Play"}};function we(n,t){let e=u("div",{}),s=u("summary",{},n),i=u("details",
{class:"fv-menu"},s,e);for(let[o,a]of t){let l=()=>{i.open=!1,a()};e.append(u("button",{type:"button",onclick:l},o))}return i.addEventListener(
"keydown",o=>{o.key==="Escape"&&(i.open=!1,s.focus())}),i.addEventListener("focusout",o=>{let a=o.relatedTarget;a instanceof Node&&!i.contains(
a)&&(i.open=!1)}),i}var Ls={"λ₁":"the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",
NLL:"negative log likelihood: mean of −log p of the right answers; low is good",ECE:"expected calibration error: how far confidence is fro\
m the share of right answers; low is good","q′":"a posterior near q; the worst one has the highest loss on average",KL:"Kullback-Leibler d\
ivergence: how far one distribution is from another, in nats",T:"temperature: the weight of the prior; 1 is Bayes' rule"};function ye(n){let t=new Set,
e=s=>s.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((i,o)=>o%2===0||t.has(i)?i:(t.add(i),u("abbr",{title:Ls[i],tabindex:0},i)));return n.split(
`
`).filter(Boolean).map(s=>s.startsWith("= ")?u("p",{class:"fv-equation"},xe(s.slice(2))):u("p",{},...s.split("**").flatMap((i,o)=>o%2?u("b",
{},...e(i)):e(i))))}var pt=class{explored=null;rest=0;constructor(t,e){this.story=t,this.page=e,this.sections=t.map(s=>u("section",{},u("h2",{},s.title),...ye(s.
text))),this.node=u("article",{class:"fv-article"},...this.sections),this.node.hidden=!t.length,this.scrolled=()=>{clearTimeout(this.rest),this.
rest=setTimeout(()=>this.follow(),120)}}get cover(){return this.page.el.clientWidth<900?parseFloat(getComputedStyle(this.node).paddingTop):0}reads({
step:t}){return t>=0&&t<this.story.length-1}inSight(){let{sections:t,cover:e}=this,s=e+.45*(window.innerHeight-e),i=Math.max(0,t.findLastIndex(
o=>o.getBoundingClientRect().top<s));return i<t.length-1?i:-1}follow(){let{page:{state:t,resting:e},story:s}=this,i=this.inSight(),o=t.all;if(e()||
i===o.step)return;o.step<0&&(this.explored=o);let{method:a,radius:l,n_draws:r}=t.start;t.acted({step:i}),t.put(i<0&&this.explored||{method:a,
radius:l,n_draws:r,...s.at(i)?.set,step:i})}goTo(){let{step:t}=this.page.state.all;this.story.length&&this.inSight()!==t&&(this.sections[t]??
this.page.stage).scrollIntoView()}};var Ss=40,As=450;async function jt(n,t){for(let[e,s,i]of n){if(!i.member)continue;let{method:o,radius:a}=i.member.meta,l=["flatviz",s.name,o,
a||"",e==="B"?"b":""],r=await i.image(t,t==="png"?2:1);$t(r,`${l.filter(Boolean).join("-")}.${t}`)}}async function ke({el:n,state:t,member:e,
radii:s,shown:i}){let o=t.all,{method:a,label:l}=e.meta,r=[];for(let h of s){for(t.put({...o,radius:h});n.dataset.state!==`${a}/${h}/${o.n_draws}`;)
await new Promise(requestAnimationFrame);let f=await Promise.all(i().map(async([,,p])=>at(await p.image("png"))));r.push({text:`${l}, radius\
 ${h}`,images:f})}t.put(o);let{blob:c,type:d}=await Es(n,[...r,...r.slice(0,-1).reverse(),r[0]]);$t(URL.createObjectURL(c),`flatviz-${a}-rad\
ius.${d?.slice(6)}`)}async function Es(n,t){let e=t.map(({images:m})=>m.reduce((b,v)=>b+v.width,0)),s=Math.max(...e),i=Math.max(...t.flatMap(
({images:m})=>m.map(b=>b.height))),o=u("canvas",{width:s+s%2,height:i+Ss+i%2}),a=K(o),{color:l,backgroundColor:r,fontFamily:c}=getComputedStyle(
n),d=["video/mp4","video/webm"].find(m=>MediaRecorder.isTypeSupported(m)),h={mimeType:d,videoBitsPerSecond:4e6},f=new MediaRecorder(o.captureStream(),
h),p=[],g=new Promise(m=>{f.addEventListener("stop",m)});f.addEventListener("dataavailable",({data:m})=>p.push(m)),f.start(),a.font=`600 18p\
x ${c}`;for(let{text:m,images:b}of t){a.fillStyle=r,a.fillRect(0,0,o.width,o.height);let v=0;for(let x of b)a.drawImage(x,v,0),v+=x.width;a.
fillStyle=l,a.fillText(m,14,o.height-14),await new Promise(x=>{setTimeout(x,As)})}return f.stop(),await g,{blob:new Blob(p,{type:d}),type:d}}
function ze(n,t,{n_draws:e}){let s=n.flatMap(([,{kind:i,name:o},{member:a}])=>{if(i!=="plotly"||!a)return[];let{method:l,radius:r}=a.meta,c=`\
method=${JSON.stringify(l)}, radius=${r}, n_draws=${e}`;return[`fv.widgets.plot_view(family, ${JSON.stringify(o)}, ${c})`]});return["import \
flatviz as fv","",...t.code??[],...s].join(`
`)}var ut=class{constructor(){this.node=u("textarea",{class:"fv-code",rows:6,readonly:"",hidden:"","aria-label":"code",style:"width:100%"})}take(t,e){
let{node:s}=this;s.hidden=!1,s.value=t,s.select(),navigator.clipboard?.writeText(t).then(()=>s.setAttribute("aria-label",`${e}, copied`),()=>{});
let i=o=>{o.target!==s&&(s.hidden=!0,document.removeEventListener("pointerdown",i))};document.addEventListener("pointerdown",i)}};var _s={ArrowRight:1,ArrowLeft:-1},Ct=class{busy=!1;constructor({ask:t,index:e,members:s}){this.progress=u("progress",{max:1,value:0,"aria-l\
abel":"share of the fit that is done"}),this.said=u("span",{role:"status"}),this.button=B("Stop","stop or start fitting",()=>t?.(this.button.
textContent==="Stop"?"stop":"run"));let i="fit every member again with two more seeds, behind the picture";this.bands=B("Bands over seeds",i,
()=>t?.("seeds")),this.bands.hidden=e.seeds!==1;let o=[this.button,this.progress,this.said,this.bands];this.node=u("div",{class:"fv-work"},...o),
this.node.hidden=!s.live,this.note=u("div",{class:"fv-note",role:"alert",hidden:""})}show({share:t,text:e,busy:s,error:i}){this.busy=s,this.
progress.value=t,this.said.textContent=e,this.button.textContent=s?"Stop":"Run",this.bands.disabled=s,this.note.hidden=!i,this.note.textContent=
i??""}lost(t){this.node.hidden=!0,this.note.hidden=!1,this.note.textContent=t}},mt=class{constructor(t){this.page=t;let{state:e,index:s,members:i}=t;
this.a=new Z("",r=>e.change(r)),this.b=new Z("B",r=>{let{method:c,wanted:d}=this.b;e.change({compare:{method:c,radius:d,...r}})}),this.draws=
u("input",{type:"range",class:"fv-draws",min:1,max:s.n_max,step:1,"aria-label":"ensemble size"}),this.drawsText=u("output"),this.draws.addEventListener(
"input",()=>e.change({n_draws:Number(this.draws.value)}));let o="two states side by side, on the same scales";this.compare=B("Compare",o,()=>{
let{a:r,b:c}=t.current(),d=i.methods.find(f=>f==="vi"&&f!==r.method)??r.method,[h]=i.stops(d);e.change({compare:c?null:{method:d,radius:h}})});
let a="go through the fitted radii of this method";this.player=new ft(r=>this.playRadius(r),a),this.undo=B("Undo","take the last change back",
()=>e.undo()),this.copied=new ut,this.work=new Ct(t),this.reading=u("p",{class:"fv-reading"}),this.readingB=u("p",{class:"fv-reading",hidden:""}),
this.spoken=u("div",{"aria-live":"polite"},this.reading,this.readingB);let l=[...new Set(s.figures.map(({group:r})=>r))];this.names=l.length>
1?[...l,"All"]:l,this.panel=`fv-panel-${Math.random().toString(36).slice(2)}`,this.tabButtons=this.names.map(r=>{let c={type:"button",role:"\
tab","aria-controls":this.panel};return u("button",{...c,onclick:()=>e.change({tab:r})},r)}),this.tabs=this.tabList(),this.node=this.build()}tabList(){
let{names:t,page:e,tabButtons:s}=this,o=u("div",{class:"fv-tabs",role:"tablist","aria-label":"views"},...s);return o.addEventListener("keydo\
wn",a=>{let l=_s[a.key];if(!l)return;let{state:r,layout:c}=e,d=(t.indexOf(c.tabOf(r.all))+l+t.length)%t.length;r.change({tab:t[d]}),s[d].focus()}),
o.hidden=t.length<2,o}build(){let t=u("label",{},u("span",{},"ensemble size"),this.draws,this.drawsText),e=u("div",{class:"fv-controls",role:"\
group","aria-label":"controls"},this.a.node,t,this.b.node),s=u("div",{class:"fv-buttons",role:"group","aria-label":"actions"},this.player.button,
this.compare,this.undo,this.menu());return u("div",{class:"fv-bar"},e,this.work.node,this.work.note,this.spoken,u("div",{class:"fv-strip"},this.
tabs,s))}menu(){let{page:t,copied:e}=this,{state:s,index:i,members:o,hash:a,el:l}=t,r=[["Reset",()=>s.reset()],["Copy as code",()=>e.take(ze(
t.shown(),i,s.all),"code")]],c=()=>new URL(s.hash,location.href).href;a&&r.push(["Copy link",()=>e.take(c(),"link")]),r.push(["Save as SVG",
()=>jt(t.shown(),"svg")]),r.push(["Save as PNG",()=>jt(t.shown(),"png")]);let d=()=>{let{member:h}=t.current().a,f=o.fitted(h.meta.method);ke(
{el:l,state:s,member:h,radii:f,shown:()=>t.shown()})};return globalThis.MediaRecorder&&r.push(["Save film of the radius",d]),we("Menu",r)}playRadius(t){
let{state:e,members:s}=this.page,{method:i,member:o}=this.page.current().a,a=s.fitted(i),r=a.find(c=>c>o.meta.radius)??(t?a[0]:void 0);return r===
void 0||a.length<2?!1:(t&&e.past.push(e.all),e.put({...e.all,radius:r}),!0)}show(t){let{page:e,draws:s,drawsText:i}=this,{a:o,b:a,n_draws:l,
compare:r}=t,{members:c,layout:d,state:h,el:f}=e,{offered:p}=c;this.a.show(o.method,t.radius,p,d.narrow),this.a.letter.textContent=a?"A":"",
this.b.node.hidden=!a,a&&r&&this.b.show(a.method,r.radius,p,d.narrow),s.value=String(l),s.disabled=[o,a].every(b=>!b||b.member.meta.n_draws===
1),i.textContent=s.disabled?"one point":ot(l,"draw"),s.setAttribute("aria-valuetext",i.textContent),this.compare.setAttribute("aria-pressed",
String(!!a)),this.compare.textContent=a?"One state":"Compare",this.undo.disabled=!h.past.length,this.player.button.disabled=c.of(o.method).length<
2,this.reading.replaceChildren(...this.about(t,o,"A")),this.readingB.hidden=!a,a&&this.readingB.replaceChildren(...this.about(t,a,"B"));let g=d.
tabOf(t),m=e.frames.some(b=>d.inTab(b,g)&&Object.keys(b.entry(t.chosen).link).length>0);f.classList.toggle("fv-drawn",m),this.tabButtons.forEach(
(b,v)=>{let x=this.names[v]===g;b.setAttribute("aria-selected",String(x)),b.tabIndex=x?0:-1})}about(t,e,s){let{members:i,layout:o,hovered:a}=this.
page,l=t.n_draws,r=a??t.picked,d=o.narrow&&o.reads(t)?i.numbers(e,l):i.sentence(e,l),h=r===null?"":i.aboutDraw(e,r);return[(t.b?`${s}: `:"")+
d,u("span",{class:"fv-draw"},h)]}};var $e=({option:n})=>Object.values(n).join(", "),gt=class{entries=[];menus={};made={};shown="";tap=null;constructor({slot:t,group:e,span:s,least:i},o){
this.slot=t,this.group=e,this.span=s,this.least=i,this.choose=o,this.pair=u("div",{class:"fv-pair"}),this.caption=u("p"),this.question=u("su\
mmary",{},"What is this?"),this.about=u("details",{open:""},this.question,this.caption),this.choice=u("div",{class:"fv-choice",hidden:""});let a=u(
"figcaption",{},this.about);this.node=u("figure",{},this.choice,this.pair,a)}add(t){this.entries.push(t),this.choice.hidden=this.entries.length<
2}offer(t){for(let e of Object.keys(this.entries[0].option)){let s=[...new Set(this.entries.map(({option:o})=>o[e]))],i=u("select",{"aria-la\
bel":`${e} of this picture`},...s.map(o=>u("option",{value:o},o)));i.addEventListener("change",()=>this.pick(e,i.value,t())),this.menus[e]=i,
s.length>1&&this.choice.append(i)}}pick(t,e,s){let i=this.entry(s).option,o=({option:l})=>Object.keys(i).filter(r=>l[r]===i[r]).length,a=this.
entries.filter(({option:l})=>l[t]===e);this.choose($e(a.reduce((l,r)=>o(r)>o(l)?r:l)))}entry(t){return this.entries.find(e=>$e(e)===t[this.slot])??
this.entries[0]}};function Me(n){n.dataset.lmSuppressShortcuts="true";let t=e=>{!e.ctrlKey&&!e.metaKey&&!e.altKey&&!(e.shiftKey&&e.key==="Enter")&&e.stopPropagation()};
return n.addEventListener("keydown",t),()=>n.removeEventListener("keydown",t)}var Rt=640,Oe=900,E=12,Le=300,Q=n=>n.reduce((t,e)=>t+e,0),vt=class{tallest=new Map;constructor(t){this.page=t}tabOf({tab:t}){let{bar:e,printing:s}=this.
page;return s?"All":e.names.includes(t)?t:e.names[0]}inTab(t,e){return e==="All"||t.group===e}reads(t){return this.page.article.reads(t)&&!this.
page.printing}get narrow(){return this.page.el.clientWidth<Rt&&!this.page.printing}get screen(){return this.page.el.closest(".jp-Notebook, .\
jp-WindowedPanel-outer")?.clientHeight||window.innerHeight}px(t){return this.page.grid.clientWidth*t/E}spread(t,e){let s=Q(e.map(({span:r})=>r)),
{clientWidth:i}=this.page.grid,o=e.map(({least:r})=>Math.ceil(E*r/i)),a=e.map(({span:r})=>Math.max(3,Math.round(E*r/s)));return a.some((r,c)=>r<
o[c])&&Q(o)<=E&&o.every(Boolean)&&(a=o),a[a.length-1]+=E-Q(a),a[e.indexOf(t)]}arrange(t){let{el:e,frames:s,bar:i,article:o,printing:a}=this.
page,{story:l}=o,r=e.clientWidth,c=this.tabOf(t),d=this.reads(t),h=r>=Oe,f={narrow:r<Rt||a,beside:h&&!a,above:!h&&!a,two:t.b,reads:d,story:l.
length&&!a};for(let[v,x]of Object.entries(f))e.classList.toggle(`fv-${v}`,!!x);for(let v of[i.tabs,i.compare,i.undo])v.hidden=d||v===i.tabs&&
i.names.length<2;let p=s.filter(v=>this.inTab(v,c)),g=v=>this.px(this.spread(v,p))<v.least;if(d&&(!h||t.b||p.some(g))){let{see:v}=l[t.step].
set??{};p=[p.find(({entries:$})=>$.some(({name:y})=>y===v))??p[0]]}let m=this.columnsOf(p,t,c),b=r<Rt&&!a;for(let v of s)v.tap!==b&&(v.about.
open=!b),v.tap=b,v.node.hidden=!p.includes(v),d&&!h&&t.b?v.pair.tabIndex=0:v.pair.removeAttribute("tabindex"),v.node.style.gridColumn=`span ${m(
v)}`}columnsOf(t,{b:e},s){let i=Q(t.map(({span:h})=>h)),o=s!=="All"&&(i<=E||t.length<3)&&!e,a=h=>this.px(this.spread(h,t))<h.least;if(s!=="A\
ll"&&(e||o&&t.some(a)))return()=>E;if(o)return h=>this.spread(h,t);let l=this.page.el.clientWidth<1e3||!!e,r=(h,f)=>l?E/f.length:this.spread(
h,f),c=[],d=[];for(let h of t){let f=[...d,h],p=f.some(m=>this.px(r(m,f))<m.least),g=Q(f.map(({span:m})=>l?E/2:m))>E;f.length>1&&!p&&!g?d.push(
h):(d=[h],c.push(d))}return h=>r(h,c.find(f=>f.includes(h))??[h])}tall(t,e){let{el:s,bar:i}=this.page,o=i.work.note.textContent,a=[s.clientWidth,
!!e.b,this.reads(e),o].join(),l=this.tallest.get(t),r=l?.place===a?l.px:0,c=t.hidden?0:Math.max(t.offsetHeight,r);return this.tallest.set(t,
{place:a,px:c}),c}height(t,e){let{el:s,bar:i,stage:o,printing:a,frames:l}=this.page,r=w=>this.tall(w,t),{height:c,layout:d}=e.entry(t.chosen),
{screen:h}=this,f=this.reads(t),p=r(i.node);if(f&&s.clientWidth<Oe)return o.clientHeight-p-r(e.question)-r(e.choice)-24;if(t.b&&this.narrow)
return Y(d).length>2?440:Math.max(230,Math.round((h-p-40)/2));if(a)return c;if(this.tabOf(t)==="All")return Math.max(Le,Math.min(c,h-p-40));
let g=s.closest(".jp-Notebook")?0:s.getBoundingClientRect().top+window.scrollY,m=t.b?36:80,b=w=>f?r(w.choice)+r(w.caption):m,v=f?l.filter(({
node:w})=>!w.hidden):[e],x=24+Math.max(...v.map(b)),$=s.clientWidth>=1e3&&g<.3*h?g+48:0,y=h-p-Math.max(x,$);return Math.round(Math.max(Le,Math.
min(t.b?440:560,y)))}};var Se=n=>t=>`${n} ${t.toFixed(3)}`,Ae={accuracy:n=>`accuracy ${(100*n).toFixed(1)} %`,nll:n=>`NLL ${n.toFixed(3)} nats`,ece:Se("ECE"),rmse:n=>`\
RMSE ${S(n)}`},Ts={...Ae,accuracy:n=>`${(100*n).toFixed(1)} % right`,nll:Se("NLL")},bt=class{constructor(t,e){this.index=t.index,this.fields=
t.index.fields,this.live=e,this.list=yt(t)}get methods(){return[...new Set(this.list.map(t=>t.meta.method))]}of(t){return this.list.filter(e=>e.
meta.method===t)}fitted(t){return this.of(t).filter(e=>!e.meta.note).map(e=>e.meta.radius).sort((e,s)=>e-s)}stops(t){let e=this.live?this.index.
stops[t]??[]:[];return[...new Set([...this.of(t).map(s=>s.meta.radius),...e])].sort((s,i)=>s-i)}standing(t,e){let s=this.methods.includes(t)?
t:this.methods[0],i=this.of(s);return{method:s,wanted:e,member:i[et(i.map(o=>o.meta.radius),e)]}}get offered(){return this.methods.map(t=>{let{
label:e,unit:s}=this.of(t)[0].meta;return{method:t,label:e,stops:this.stops(t),unit:s,first:this.index.defaults[t]}})}add(t){for(let e of yt(
t)){let s=this.list.findIndex(i=>i.meta.method===e.meta.method&&i.meta.radius===e.meta.radius);s>=0&&(e.version=(this.list[s].version??0)+1),
s<0?this.list.push(e):this.list[s]=e}}ranges(t){let e={};for(let s of t.shared){let i=this.list.flatMap(o=>o.meta.ranges[t.name]?.[s]??[]);i.
length&&(e[s]=[Math.min(...i),Math.max(...i)])}return e}scores(t,e=Ae){return Object.entries(e).filter(([s])=>s in this.fields).map(([s,i])=>i(
t(s)))}sentence({method:t,member:e,wanted:s},i){let o=d=>q(this.fields,e,d),a=d=>o(d)[i-1],l=e.meta.radius,r=Math.abs(l-s)>1e-6*Math.max(1,s)&&
this.of(t).length>1?`radius ${S(s)} is not fitted; shown: `:"",c=l>0?`, radius ${S(l)}${e.meta.reach??""}`:e.meta.equals?`, radius 0, which \
is ${e.meta.equals}`:"";return`${r}${e.meta.label}${c}${e.meta.note??""}, ${ot(Math.min(i,e.meta.n_draws),"draw")}: `+(Number.isFinite(a("nl\
l"))?`${this.scores(a).join(", ")}; `:"diverged, no score is a number; ")+(Number.isFinite(o("lambda1")[0])?`largest eigenvalue λ₁ ${S(o(
"lambda1")[0])}.`:"no largest eigenvalue λ₁ was found.")}numbers({member:t},e){let s=o=>q(this.fields,t,o)[e-1],[i]=q(this.fields,t,"lamb\
da1");return Number.isFinite(s("nll"))?`${this.scores(s,Ts).join(", ")}, λ₁ ${S(i)}`:"diverged"}aboutDraw({member:t},e){let s=q(this.fields,
t,"draw loss")[e],i=q(this.fields,t,"draw distance")[e];return Number.isFinite(s)?` Draw ${e+1}: training loss ${S(s)}, ${S(i)} off the plan\
e.`:""}};var Ee=`.flatviz { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --panel: #f5f7fa; --line: #d9dee4; --track: #9aa5b1; --accent: #00805d\
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
`;var js=100,Cs=1500;function Dt(n){return new Bt(n).handle}var Bt=class{frames=[];pending=[];hovered=null;timers={};waiting=!1;stopped=!1;printing=!1;placed=!1;stale=!0;forget=()=>{};constructor({
Plotly:t,model:e,el:s,bundle:i,ask:o=null,hash:a=!1,former:l=null}){let{index:r}=i;st(r.dark),this.Plotly=t,this.model=e,this.el=s,this.index=
r,this.ask=o,this.hash=a,this.schedule=this.schedule.bind(this),this.members=new bt(i,!!(r.live&&o)),this.state=new dt(e,r,this.schedule,g=>this.
halt(g)),l&&(this.state.past=l.past,this.state.start=l.start),this.bar=new mt(this),this.grid=u("div",{class:"fv-figures",role:"tabpanel",id:this.
bar.panel,"aria-label":"pictures",tabindex:0});let c=[this.bar.node,this.bar.copied.node,this.grid];this.stage=u("div",{class:"fv-stage"},...c);
let d=()=>this.stopped||this.printing||!this.placed,{stage:h,state:f}=this;this.article=new pt(r.story??[],{el:s,stage:h,state:f,resting:d}),
s.classList.add("flatviz"),Me(s);let p=u("div",{class:"fv-body"},this.article.node,this.stage);s.replaceChildren(u("style",{},Ee),p);for(let g of r.
figures)this.place(g);for(let g of this.frames)g.offer(()=>this.state.all.chosen);this.layout=new vt(this),ve(this),this.schedule()}halt(t){
["method","radius","compare","step"].some(s=>s in t)&&this.bar.player.halt()}current(){let t=this.state.all,{compare:e}=t;return{...t,a:this.
members.standing(t.method,t.radius),b:e&&this.members.standing(e.method,e.radius)}}get tools(){let{Plotly:t,index:e,members:s,state:i}=this;
return{Plotly:t,index:e,members:s.list,point:(o,a)=>this.point(o,a),choose:(o,a)=>this.choose(o,a),chosen:()=>i.all.chosen,redraw:this.schedule,
replace:o=>o.light(this.lit)}}get lit(){return this.hovered??this.state.all.picked}choose(t,e){this.state.change({chosen:{...this.state.all.
chosen,[t]:e}})}place(t){let{slot:e,group:s}=t,i=e?this.frames.find(a=>a.slot===e&&a.group===s):null,o=i??new gt(t,a=>this.choose(e,a));i||(this.
grid.append(o.node),this.frames.push(o)),o.add(t)}get pictures(){return this.frames.flatMap(t=>Object.values(t.made))}shown(){let{chosen:t}=this.
state.all;return this.frames.filter(({node:e})=>!e.hidden).flatMap(e=>{let s=e.entry(t);return["A","B"].map(o=>[o,s,e.made[s.name+o]]).filter(
([,,o])=>o?.node.isConnected&&o.state)})}later(t,e,s){clearTimeout(this.timers[t]),this.timers[t]=setTimeout(e,s)}schedule(){this.waiting||this.
stopped||(this.waiting=!0,requestAnimationFrame(()=>{this.waiting=!1,!this.stopped&&(this.el.isConnected?ht(this):setTimeout(this.schedule,js))}))}point(t,e){
let{state:s}=this;if(t==="click"){s.change({picked:s.all.picked===e?null:e});return}this.hovered!==e&&(this.hovered=e,this.bar.show(this.current()),
this.mark())}mark(){for(let t of this.pictures)t.light(t.plot.clientWidth?this.lit:null)}async photograph(){let{el:t,bar:e}=this;if(!t.isConnected||
e.work.busy&&t.dataset.shown==="preview"){this.later("shot",()=>this.photograph(),Cs);return}let s=this.shown().slice(0,2),i=await Promise.all(
s.map(([,,o])=>o.image("png")));this.stopped||this.ask?.("picture",{images:i,text:e.spoken.innerText})}get handle(){let{state:t}=this;return{
get history(){return{past:t.past,start:t.start}},add:e=>this.add(e),status:e=>this.bar.work.show(e),lost:e=>this.lost(e),stop:()=>this.stop()}}add(t){
this.members.add(t);for(let e of t.index.figures??[]){let s=this.index.figures.find(({name:o})=>o===e.name),i=this.frames.find(({entries:o})=>o.
some(a=>a===s));if(!(!s||!i)&&(Object.assign(s,e),!(!e.data&&!e.layout)))for(let o of["A","B"])i.made[s.name+o]?.renew()}this.schedule()}lost(t){
this.members.live=!1,this.bar.work.lost(t),this.schedule()}stop(){this.stopped=!0,this.bar.player.halt(),Object.values(this.timers).forEach(
clearTimeout),this.forget();for(let{plot:t}of this.pictures)this.Plotly.purge(t)}};var Ft=n=>document.getElementById(n),Te=n=>JSON.parse(Ft(n).textContent??""),Rs=()=>new Promise(n=>{requestAnimationFrame(()=>setTimeout(n))});
async function _e(n){let t=new Blob([J(Te(n))]).stream().pipeThrough(new DecompressionStream("deflate"));return new Uint8Array(await new Response(
t).arrayBuffer())}async function Bs(){performance.mark("flatviz-start");let n=Te("flatviz-start"),t=Ft("explorer"),e={get:l=>n[l],set:(l,r)=>{
n[l]=r},save_changes(){},on(){},off(){}};globalThis.DecompressionStream||(t.textContent="The pictures on this page need a browser of 2023 or\
 later."),await Rs();let[s,i]=await Promise.all([_e("flatviz-index"),_e("flatviz-records")]),o=document.createElement("script");o.textContent=
Ft("plotly").textContent,document.head.append(o);let a={index:JSON.parse(new TextDecoder().decode(s)),buffer:Wt(i)};Dt({Plotly:globalThis.Plotly,
model:e,el:t,bundle:a,hash:!0})}return De(Ds);})();
