// Package nvme reads and writes what NVMe over RDMA carries: the private data
// of the connection, command capsules and response capsules, as the NVM Express
// Base Specification 2.0, NVMe over Fabrics 1.1 and the NVMe RDMA Transport
// Specification 1.0 have them. All fields are little-endian.
//
// One QP is one queue pair. A command capsule is a Send of a 64-octet submission
// queue entry, with data behind it where the SGL says so; a response capsule is
// a Send (with Invalidate, where the SGL asks for it) of a 16-octet completion
// queue entry. Data that is not in the capsule moves by RDMA Write to the key of
// the SGL, or by RDMA Read from it.
package nvme
