/** Exports that the command needs in addition to index.ts. Not an export of the package. */
export { configOfUntrustedRoot } from './config/untrusted-config.ts';
export {
  describeBlocks,
  describeFindings,
  describeProposal,
  describeProposals,
  describeRevisions,
  describeStats,
} from './propose/describe.ts';
