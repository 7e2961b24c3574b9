import type { BuildContext, Plugin } from 'esbuild';

export function compiler(outdir: string, plugins?: Plugin[]): Promise<BuildContext>;
