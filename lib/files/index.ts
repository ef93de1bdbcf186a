export { pathTraversal, resourceNotFound, resourceTooLarge, writeFailed } from './errors.ts';
export { commitMove, type FolderMove, type MoveStep, moveFolder, undoMove } from './move-folder.ts';
export {
  fileSegments,
  foldersAbove,
  futureRealPath,
  isInside,
  isPlainPath,
  PACKAGE_NAME,
  realPathOf,
  relativeSegments,
} from './paths.ts';
export { type FolderEntry, listContained, readContained, readNamedFile } from './read-contained.ts';
export { isTemporaryName, TEMPORARY, temporaryName } from './temporary-names.ts';
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
export {
  linkContained,
  makePrivateFile,
  makePrivateFolder,
  removeContained,
  removeEmptyFolders,
  renameContained,
  unlinkContained,
  writeContained,
} from './write-contained.ts';
