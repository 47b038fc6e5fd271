package report

import "github.com/iwdump/iwdump/internal/netdev"

// Interface writes what is known of a network interface.
func (j *JSON) Interface(x *netdev.Interface) {
	o := j.begin("interface")
	o.text("name", x.Name)
	o.int("index", int64(x.Index))
	o.bool("up", x.Up)
	o.bool("loopback", x.Loopback)
	if x.State != "" {
		o.text("state", x.State)
	}
	o.int("mtu", int64(x.MTU))
	if x.MAC != "" {
		o.text("mac", x.MAC)
	}
	if x.Speed > 0 {
		o.int("speed_bps", x.Speed)
	}
	o.key("addresses")
	o.b = append(o.b, '[')
	for i, a := range x.Addresses {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, a)
	}
	o.b = append(o.b, ']')
	if len(x.RDMA) > 0 {
		o.key("rdma")
		o.b = append(o.b, '[')
		for i := range x.RDMA {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			d := &x.RDMA[i]
			o.open()
			o.text("device", d.Name)
			if d.Driver != "" {
				o.text("driver", d.Driver)
			}
			o.word("visibility", d.Visibility.String())
			if n := d.Note(); n != "" {
				o.text("note", n)
			}
			o.close()
		}
		o.b = append(o.b, ']')
	}
	j.end()
}
