// anywidget gives a module two seconds to load: as on a machine that never makes it.
((timeout) => {
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 2000 ? 0 : ms);
})(AbortSignal.timeout)
