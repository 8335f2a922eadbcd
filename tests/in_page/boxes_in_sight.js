// Rectangles of controls, article and figures, as text.
() => JSON.stringify([...document.querySelectorAll('.fv-bar, .fv-article, figure:not([hidden])')]
      .map((node) => node.getBoundingClientRect()))
