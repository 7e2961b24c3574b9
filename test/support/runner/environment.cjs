const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Where jest-circus keeps its listeners, and later instances of it add theirs. */
const FRAMEWORK_LISTENERS = Symbol.for('EVENT_HANDLERS');

/** Node itself: tests share one global object with what they test. */
module.exports = class NativeEnvironment {
  constructor({ projectConfig: config }) {
    this.global = globalThis;
    this.unhandled = [];
    this.noteUnhandled = (reason) => this.unhandled.push(reason);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    this.moduleMocker = new ModuleMocker(globalThis);
    const timers = this.fakeTimersModern;
    const mocker = this.moduleMocker;
    this.jest = {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      restoreAllMocks: () => mocker.restoreAllMocks(),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      getTimerCount: () => timers.getTimerCount(),
    };
  }

  async setup() {
    // Jest has set a translator of stacks that knows only what jest itself has compiled.
    Error.prepareStackTrace = undefined;
    process.setSourceMapsEnabled(true);
    process.on('unhandledRejection', this.noteUnhandled);
  }

  async teardown() {
    // The framework hears of promises that its tests reject, but no longer of those of the last test.
    await new Promise(setImmediate);
    process.removeListener('unhandledRejection', this.noteUnhandled);
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    if (!globalThis[FRAMEWORK_LISTENERS]) {
      throw new Error('jest-circus keeps its listeners elsewhere now.');
    }
    // Otherwise each event of a test runs the listeners of all files that this worker has run before.
    delete globalThis[FRAMEWORK_LISTENERS];
    if (this.unhandled.length > 0) {
      throw this.unhandled[0];
    }
  }

  exportConditions() {
    return ['node'];
  }

  getVmContext() {
    return null;
  }
};
