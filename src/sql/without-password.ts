// What is known to begin a URL; any other word before a colon may as well be a user, and what follows its password.
const beginning = String.raw`(?:[a-z][\w+.-]*:\/\/|postgres(?:ql)?:)?`
const afterUser = new RegExp(`^(\\s*${beginning}[^:]*):.*@`, 'is')

/**
 * For messages: everything but the password; rather too little than too much of it when the URL is malformed. Hidden is
 * what stands between the first colon and the last @, and everything that follows `password=`, up to an &.
 */
export function withoutPassword(url: string): string {
  return url.replace(afterUser, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}
