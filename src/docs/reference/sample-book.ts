export const sampleLanguages = ['typescript', 'python', 'go'] as const;

/** Programs of one language, by operation id. */
export type Samples = Readonly<Record<string, string>>;

/** The programs of all languages. */
export type SampleBook = Readonly<Record<(typeof sampleLanguages)[number], Samples>>;
