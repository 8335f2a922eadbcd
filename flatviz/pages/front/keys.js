// ---- keys, in a notebook

/**
 * Keep keys that are pressed inside `el` from JupyterLab, which hears arrows and letters wherever
 * they are pressed, and moves to another cell or inserts one: all but those with Ctrl, Alt or Meta,
 * and Shift+Enter.
 * @param {HTMLElement} el
 */
export function keepKeys(el) {
  el.dataset.lmSuppressShortcuts = "true";
  /** @param {KeyboardEvent} e */
  const keep = (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.altKey && !(e.shiftKey && e.key === "Enter"))
      e.stopPropagation();
  };
  el.addEventListener("keydown", keep);
  return () => el.removeEventListener("keydown", keep);
}
