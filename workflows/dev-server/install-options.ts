export interface InstallOptions {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Called with a line for people whenever there is something to say, at least every ten seconds. */
  onProgress: (line: string) => void;
  /** A route that says nothing for so long is given up. */
  silenceLimitMs: number;
}
