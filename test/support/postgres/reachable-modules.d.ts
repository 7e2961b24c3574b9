export function reachableModules(copyFolder: string): string;
