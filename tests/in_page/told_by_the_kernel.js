// Send each of these contents through the channel, its records in base64 as a buffer.
([contents]) => contents.forEach(({ records, ...content }) => {
  const bytes = Uint8Array.from(atob(records ?? ""), (c) => c.charCodeAt(0)).buffer;
  window.channel.post(content, records === undefined ? [] : [new DataView(bytes)]);
})
