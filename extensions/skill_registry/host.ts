/** What the command needs of the registry beside index.ts. No export of the package. */
export { configOfUntrustedRoot } from './config/untrusted-config.ts';
export { describeProposal, describeProposals, describeRevisions, describeStats } from './propose/describe.ts';
