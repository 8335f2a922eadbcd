// The grey levels of the image of this row.
(row) => {
  const image = document.querySelector(`[data-row="${row}"] image`), c = document.createElement('canvas'), i = new Image();
  i.src = image.getAttribute('href');
  return i.decode().then(() => { c.width = i.width; c.height = i.height; const x = c.getContext('2d'); x.drawImage(i, 0, 0);
    return Array.from(x.getImageData(0, 0, i.width, i.height).data).filter((_, k) => k % 4 === 0); }); }
