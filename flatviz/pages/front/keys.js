// ---- keys, in a notebook

// JupyterLab hears arrows and letters wherever they are pressed, and moves to another cell or
// inserts one.  Keys pressed inside `el`
// stay there, but for those with Ctrl, Alt or Meta, and Shift+Enter.
export function keepKeys(el) {
  el.dataset.lmSuppressShortcuts = "true";
  const keep = (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.altKey && !(e.shiftKey && e.key === "Enter"))
      e.stopPropagation();
  };
  el.addEventListener("keydown", keep);
  return () => el.removeEventListener("keydown", keep);
}
