/** A file of the documentation site, as the build writes it. */
export interface SiteFile {
  /** The path at which it is served. */
  path: string;
  /** Its Content-Type. */
  type: string;
  /**
   * Text with `{{gatewayUrl}}`, `{{signOnUrl}}` and parts for one environment: `<!--demo-->…<!--/demo-->`.
   * `live-with-demo` parts have `{{demoGatewayUrl}}`.
   */
  body: string;
}

/** What the paths of all its files begin with. */
export const OF_SITE = /^\/(?:docs|openapi|asyncapi|llms\.txt)/;

export const NOT_FOUND_PATH = '/docs/not-found';
