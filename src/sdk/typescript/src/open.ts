/** One of the known values; later releases of the service may add others. */
export type Open<Known extends string> = Known | (string & Record<never, never>);
