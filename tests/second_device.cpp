// The CPU under a second name: tensors of this device lie in the CPU's memory and are computed by its kernels, but, as CUDA does,
// no operation takes tensors of both devices, and none becomes a NumPy array.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace {
using at::Tensor;
using Ints = at::IntArrayRef;
using SymInts = c10::SymIntArrayRef;
template <typename T>
using Maybe = std::optional<T>;

const c10::DeviceType TYPE = c10::DeviceType::PrivateUse1;
const c10::Device DEVICE(TYPE, 0);
const c10::DispatchKeySet KEYS(c10::DispatchKey::PrivateUse1);
const char* const MIXED = "Expected all tensors to be on the same device, but found at least two devices, second:0 and cpu! (";

// One device, one stream, and every event has happened.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return TYPE; }
  c10::Device exchangeDevice(c10::Device) const override { return DEVICE; }
  c10::Device getDevice() const override { return DEVICE; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::Stream getNewStream(c10::Device, int) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::Stream exchangeStream(c10::Stream) const override { return c10::Stream(c10::Stream::DEFAULT, DEVICE); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// Counts its bytes, now and at the most, as torch.cuda.max_memory_allocated does.
// Autograd's own thread frees some of what the caller allocates, hence atomic.
std::atomic<int64_t> now = 0, most = 0;
struct Allocator final : c10::Allocator {
  static constexpr size_t HEAD = 64;  // before each block: its size
  static void release(void* data) {
    char* block = static_cast<char*>(data) - HEAD;
    now -= *reinterpret_cast<int64_t*>(block);
    free(block);
  }
  c10::DataPtr allocate(size_t n) override {
    if (n == 0) return {nullptr, nullptr, &release, DEVICE};
    char* block = static_cast<char*>(aligned_alloc(HEAD, HEAD + (n + HEAD - 1) / HEAD * HEAD));
    *reinterpret_cast<int64_t*>(block) = static_cast<int64_t>(n);
    const int64_t sum = now += static_cast<int64_t>(n);
    for (int64_t old = most; old < sum && !most.compare_exchange_weak(old, sum);) {}
    return {block + HEAD, block + HEAD, &release, DEVICE};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t n) const override { memcpy(to, from, n); }
};
Allocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isAvailable() const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return at::detail::getDefaultCPUGenerator(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t n) const override {
    auto* old = storage.unsafeGetStorageImpl();
    auto fresh = allocator.allocate(n);
    if (old->nbytes() && n) memcpy(fresh.get(), old->data(), std::min(n, old->nbytes()));
    old->set_data_ptr_noswap(std::move(fresh));
    old->set_nbytes(n);
  }
};
const bool registered = [] {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

// The same memory, read as a tensor of the CPU.
Tensor on_cpu(const Tensor& t) {
  if (!t.defined() || !t.is_privateuseone()) return t;
  auto options = t.options().device(at::kCPU).requires_grad(false);
  if (t.storage().data() == nullptr || t.numel() == 0) return at::empty_strided(t.sizes(), t.strides(), options);
  char* data = static_cast<char*>(t.storage().mutable_data()) + t.storage_offset() * t.dtype().itemsize();
  Tensor out = at::from_blob(data, t.sizes(), t.strides(), [owner = t](void*) {}, options);
  if (t.is_conj()) out = out.conj();
  return t.is_neg() ? out._neg_view() : out;
}

Tensor empty_strided(Ints size, Ints stride, Maybe<at::ScalarType> dtype, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator, KEYS, c10::dtype_or_default(dtype));
}
Tensor empty(Ints size, Maybe<at::ScalarType> dtype, Maybe<at::Layout>, Maybe<at::Device>, Maybe<bool>, Maybe<at::MemoryFormat> order) {
  return at::detail::empty_generic(size, &allocator, KEYS, c10::dtype_or_default(dtype), order);
}
Tensor on_device(const Tensor& t) {
  if (!t.defined()) return t;
  Tensor out = at::detail::empty_strided_generic(t.sizes(), t.strides(), &allocator, KEYS, t.scalar_type());
  on_cpu(out).copy_(t);
  return out;
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  at::NoGradGuard no_grad;
  c10::impl::ExcludeDispatchKeyGuard no_autograd(c10::autograd_dispatch_keyset);
  on_cpu(to).copy_(on_cpu(from));
  return to;
}
Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) const_cast<Tensor&>(to).resize_(from.sizes());
  return copy_from(from, to, false);
}

Tensor convolution(const Tensor& x, const Tensor& w, const Maybe<Tensor>& b, SymInts stride, SymInts pad, SymInts dilation,
                   bool transposed, SymInts out_pad, c10::SymInt groups) {
  bool together = x.is_privateuseone() && w.is_privateuseone() && !(b && b->defined() && !b->is_privateuseone());
  TORCH_CHECK(together, MIXED, "convolution)");
  auto bias = b && b->defined() ? Maybe<Tensor>(on_cpu(*b)) : std::nullopt;
  return on_device(at::convolution_symint(on_cpu(x), on_cpu(w), bias, stride, pad, dilation, transposed, out_pad, groups));
}
std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& g, const Tensor& x, const Tensor& w, SymInts stride, SymInts pad,
                                                        SymInts dilation, bool transposed, SymInts out_pad, c10::SymInt groups,
                                                        std::array<bool, 3> wanted) {
  std::vector<c10::SymInt> bias{transposed ? w.sym_size(1) * groups : w.sym_size(0)};
  auto [gx, gw, gb] = at::convolution_backward_symint(on_cpu(g), on_cpu(x), on_cpu(w), at::OptionalSymIntArrayRef(bias), stride, pad,
                                                      dilation, transposed, out_pad, groups, wanted);
  return {on_device(gx), on_device(gw), on_device(gb)};
}

at::Scalar number(const Tensor& t) { return on_cpu(t).item(); }
Tensor& set_storage(Tensor& t, at::Storage s) {
  return at::native::set_storage_cpu_(t, s, 0, {static_cast<int64_t>(s.nbytes() / t.dtype().itemsize())}, {});
}
Tensor& set_tensor(Tensor& t, const Tensor& from) {
  return at::native::set_storage_cpu_(t, from.storage(), from.storage_offset(), from.sizes(), from.strides());
}
Tensor& set_strided(Tensor& t, at::Storage s, c10::SymInt offset, SymInts size, SymInts stride) {
  return at::native::set_storage_cpu_(t, s, offset.expect_int(), C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

// Everything else: the CPU's kernel, unless tensors of both devices meet (a CPU tensor of no dimension is a number).
const std::set<std::string> MAY_MIX = {"aten::index",    "aten::_index_put_impl_", "aten::index_put_", "aten::index_put",
                                       "aten::copy_",    "aten::set_",             "aten::_to_copy"};
void by_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  bool here = false, there = false;
  auto look = [&](const Tensor& t) {
    if (t.defined() && t.is_privateuseone()) there = true;
    else if (t.defined() && t.dim() > 0) here = true;
  };
  for (const auto& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isTensor()) look(value.toTensor());
    else if (value.isTensorList()) for (const Tensor& t : value.toTensorVector()) look(t);
    else if (value.isOptionalTensorList()) for (Maybe<Tensor> t : value.toOptionalTensorList()) if (t) look(*t);
  }
  TORCH_CHECK(!(here && there) || MAY_MIX.count(op.schema().name()), MIXED, op.schema().name(), ")");
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
  m.impl("_local_scalar_dense", &number);
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("resize_", TORCH_FN(at::native::resize_));
  m.impl("set_.source_Storage", &set_storage);
  m.impl("set_.source_Tensor", &set_tensor);
  m.impl("set_.source_Storage_storage_offset", &set_strided);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&by_cpu>()); }
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY(second_device, m) {
  m.def("allocated() -> int", [] { return now.load(); });
  m.def("max_allocated() -> int", [] { return most.load(); });
  m.def("reset_peak() -> ()", [] { most = now.load(); });
}
}  // namespace
