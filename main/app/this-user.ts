import { userInfo } from 'node:os'

/** The account the app runs under, for finding its name in what is to be shared; none where the system does not know it. */
export function thisUser(): { users: string[] } {
  try {
    return { users: [userInfo().username] }
  } catch {
    return { users: [] }
  }
}
