// SPDX-License-Identifier: Apache-2.0
// A node of the machine: a partition of its own with the components in it. Paths of statistics
// begin with its name.
#ifndef STRETTO_PLATFORM_MACHINE_NODE_H_
#define STRETTO_PLATFORM_MACHINE_NODE_H_

#include <string>
#include <vector>

#include "models/common/partition.h"
#include "models/fabric/router.h"

namespace stretto {

class Node : public sc_core::sc_module {
 public:
  Node(sc_core::sc_module_name name, Conductor& conductor, uint8_t node)
      : sc_module(name), partition("partition", conductor, node) {}

  // Laws of its components and between them.
  virtual void audit(AuditSink& sink) const { partition.audit(sink); }
  // Null: a node without a router.
  virtual const Router* to_links() const { return nullptr; }
  // Its ends of links; a switch counts its own.
  virtual std::vector<const LinkPort*> link_ports() const {
    return to_links() == nullptr ? std::vector<const LinkPort*>{} : to_links()->link_ports();
  }
  // Of the ordered events, and of what else the node holds. Closes the digest: call once.
  virtual std::string digest() { return partition.digest().hex(); }

  Partition partition;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_NODE_H_
