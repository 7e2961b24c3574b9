/** A file of the documentation site, as the build leaves it. */
export interface SiteFile {
  /** Where it is served. */
  path: string;
  /** Its Content-Type. */
  type: string;
  /**
   * Text with places for the addresses: `{{gatewayUrl}}` and `{{signOnUrl}}`; and parts for one environment only, between `<!--demo-->` and `<!--/demo-->`. In
   * parts of `live-with-demo`, for a live one that knows of a demo, there is also `{{demoGatewayUrl}}`.
   */
  body: string;
}

/** The page for whatever is not there. */
export const NOT_FOUND_PATH = '/docs/not-found';
