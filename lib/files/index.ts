export { pathTraversal, resourceNotFound, resourceTooLarge, writeFailed } from './errors.ts';
export { type FolderMove, type MoveStep, moveFolder, settleMove, undoMove } from './move-folder.ts';
export { privateFile, privateFolder } from './owner-only.ts';
export { fileSegments, futureRealPath, isInside, isPlainPath, realPathOf, relativeSegments } from './paths.ts';
export { type FolderEntry, listContained, readContained, readNamedFile } from './read-contained.ts';
export { removeContained, removeEmptyFolders, renameContained } from './remove-and-rename.ts';
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
} from './withheld.ts';
export { isTemporaryName, writeContained } from './write-contained.ts';
