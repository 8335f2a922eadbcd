// anywidget waits two seconds for a module to load; this script sets the wait to zero, as on a machine that is too slow.
((timeout) => {
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 2000 ? 0 : ms);
})(AbortSignal.timeout)
