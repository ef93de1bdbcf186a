export { pathTraversal, resourceNotFound, resourceTooLarge, writeFailed } from './errors.ts';
export { type FolderEntry, listContained } from './list-contained.ts';
export { type FolderMove, type MoveStep, moveFolder, settleMove, undoMove } from './move-folder.ts';
export { privateFile, privateFolder } from './owner-only.ts';
export {
  assertReadable,
  assertWritable,
  holdsReserved,
  isOtherRoot,
  isPrivateName,
  isPrivatePath,
  isReserved,
  type Reservation,
  reserve,
  reservedRoots,
} from './reach.ts';
export { readContained } from './read-contained.ts';
export { readNamedFile } from './read-named-file.ts';
export { futureRealPath, realPathOf } from './real-path.ts';
export { fileSegments, isInside, relativeSegments } from './relative-path.ts';
export { removeContained, removeEmptyFolders } from './remove-contained.ts';
export { renameContained } from './rename-contained.ts';
export { isTemporaryName, writeContained } from './write-contained.ts';
