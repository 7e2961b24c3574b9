/**
 * The value of a cookie. Undefined when it comes more than once: one of the two was set by somebody who could not read ours, such as a neighbouring
 * domain, and nothing tells them apart.
 */
export function cookieNamed(name: string, header: string | undefined): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

export interface CookieOptions {
  secure: boolean;
  /** Absent for one that ends with the browser. */
  expiresAt?: Date | undefined;
}

/** Scripts cannot read it, other sites cannot make a browser post with it, and only this host gets it. */
export function setCookie(name: string, value: string, { secure, expiresAt }: CookieOptions): string {
  const expires = expiresAt ? `; Expires=${expiresAt.toUTCString()}` : '';
  return `${name}=${value}; Path=/${expires}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

export function clearCookie(name: string, secure: boolean): string {
  return `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
