// Width of the film, and how far its frames are from the first one: the farthest, and the nearest of the last three.
async (url) => {
  const video = document.createElement('video'), canvas = document.createElement('canvas'), shown = [];
  video.muted = true;
  await new Promise((done, failed) => { video.onloadeddata = done; video.onerror = failed; video.src = url; });
  for (let share = 0.02; share < 1; share += 0.07) {       // radius 0, the largest, 0 again; a busy machine films unevenly
    await new Promise((done) => { video.onseeked = done; video.currentTime = share * video.duration; });
    Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
    canvas.getContext('2d').drawImage(video, 0, 0);
    shown.push([...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]);
  }
  const far = shown.map((one) => one.filter((v, i) => Math.abs(v - shown[0][i]) > 90).length);
  return { width: video.videoWidth, there: Math.max(...far), back: Math.min(...far.slice(-3)) };
}
