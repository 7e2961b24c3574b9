/** How the answer travels: in the address, or in a form that the browser posts. */
export type ResponseMode = 'query' | 'form_post';

/** Browsers write every line break of a form as CR LF. */
const CHANGED_BY_FORMS = /[\r\n]/;

/** Why no form can bring the answer there; undefined if one can. */
export function faultOfFormPost(redirectUri: string, state: string | null | undefined): string | undefined {
  if (!isWebAddress(redirectUri)) {
    return 'response_mode form_post needs a redirect_uri that is https or http.';
  }
  return CHANGED_BY_FORMS.test(state ?? '')
    ? 'state has line breaks, which a form does not return unchanged.'
    : undefined;
}

/** An app is opened by an address, and takes no form. */
function isWebAddress(uri: string): boolean {
  return /^https?:$/.test(new URL(uri).protocol);
}
