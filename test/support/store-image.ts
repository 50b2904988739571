export {
  readStoreImage,
  type StoredResponseRow,
  type StoredSnapshot,
  type StoredTask,
  type StoreImage,
} from '../../src/testing/store-image.js';
