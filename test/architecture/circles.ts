/** Groups of files that import each other, directly or through others, types included. */
export function circlesOf(importsOf: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) as number);
    open.push(file);
    for (const imported of importsOf.get(file) ?? []) {
      if (!order.has(imported)) {
        visit(imported);
      }
      if (open.includes(imported)) {
        lowest.set(file, Math.min(lowest.get(file) as number, lowest.get(imported) as number));
      }
    }
    if (lowest.get(file) === order.get(file)) {
      circles.push(open.splice(open.indexOf(file)));
    }
  };
  for (const file of importsOf.keys()) {
    if (!order.has(file)) {
      visit(file);
    }
  }
  return circles.filter(({ length }) => length > 1);
}
