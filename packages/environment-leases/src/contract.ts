export type { ContractCheck } from "./contract/check.js";
export type { StoreContractOptions } from "./contract/lease-store-contract.js";
export { leaseStoreContract } from "./contract/lease-store-contract.js";
export type { StoreSubject } from "./contract/store-subject.js";
