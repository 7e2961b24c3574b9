/** Says what is being done now. */
export type Progress = (step: string) => void;

const CLEAR_LINE = '\r\u001b[2K';

/** One line that rewrites itself on a terminal, and a line for each step elsewhere. */
export function progressOn(stream: NodeJS.WriteStream): { progress: Progress; clear: () => void } {
  if (!stream.isTTY) {
    return { progress: (step) => stream.write(`${step}\n`), clear: () => undefined };
  }
  return {
    progress: (step) => stream.write(CLEAR_LINE + step.slice(0, stream.columns - 1)),
    clear: () => stream.write(CLEAR_LINE),
  };
}
