/** Of answers with tokens, claims or errors; old caches heed the second (RFC 6749, section 5.1). */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;
