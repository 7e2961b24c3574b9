/** The value of a cookie. Undefined for two of that name: a neighbouring domain may have set one of them. */
export function cookieNamed(name: string, header: string | undefined): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

interface CookieOptions {
  secure: boolean;
  /** Absent for a session cookie. */
  expiresAt?: Date | undefined;
}

/** HttpOnly, SameSite and host-only. */
export function setCookie(name: string, value: string, { secure, expiresAt }: CookieOptions): string {
  const expires = expiresAt ? `; Expires=${expiresAt.toUTCString()}` : '';
  return `${name}=${value}; Path=/${expires}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

export function clearCookie(name: string, secure: boolean): string {
  return `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
