/** What this user has approved on this machine: decisions about folders, kept outside every root. */
export { type Decision, openTrust, type Trust } from './trust.ts';
export { userCacheDirectory, userStateDirectory } from './user-directories.ts';
