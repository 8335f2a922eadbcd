// From now on `window.widest` is the largest width that the page has had, whatever is drawn meanwhile.
() => {
  window.widest = 0;
  const look = () => { window.widest = Math.max(window.widest, document.documentElement.scrollWidth); requestAnimationFrame(look); };
  look();
}
