/** One of these values as far as is known today; later releases of the service may add others. */
export type Open<Known extends string> = Known | (string & Record<never, never>);
