export type { ContractCheck } from "./contract/check.js";
export type { StoreContractOptions } from "./contract/lease-store-contract.js";
export { leaseStoreContract } from "./contract/lease-store-contract.js";
export { providerContract } from "./contract/provider-contract.js";
export type { ContractPrograms, ProviderSubject } from "./contract/provider-subject.js";
export { pythonPrograms } from "./contract/provider-subject.js";
export type { StoreSubject } from "./contract/store-subject.js";
