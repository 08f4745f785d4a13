# SPDX-License-Identifier: Apache-2.0
"""Examples for operators that torch's own do not reach: a function of tensors, and their shapes or the tensors themselves. Parameters whose names begin with `w`
are weights of the model. make_examples.py traces them. Behind an operator's name may stand what is special about an example: an operator that is several things has one for each."""
import torch

aten, quantized = torch.ops.aten, torch.ops.quantized_decomposed
X = (2, 3, 4)
IMAGE = (1, 3, 6, 5)
INTEGERS = torch.arange(6).reshape(2, 3)


def one(*arguments, shape=X, **keywords):
    """f(x, ..) of an operator."""
    return lambda op: (lambda x: op(x, *arguments, **keywords), [shape])


def two(*arguments, first=X, second=X, **keywords):
    return lambda op: (lambda x, y: op(x, y, *arguments, **keywords), [first, second])


def integers(*arguments):
    return lambda op: (lambda x: op(x, *arguments), [INTEGERS])


def pair_of_integers():
    return lambda op: (lambda x, y: op(x, y), [INTEGERS, INTEGERS + 1])


def made(*arguments, shape=(3, 3), **keywords):
    """A constant that the model makes, added to its input."""
    return lambda op: (lambda x: aten.add.Tensor(x, op(*arguments, **keywords)), [shape])


def looked_up(*arguments):
    """Integers that the model makes, as rows of a table."""
    return lambda op: (lambda x: aten.index_select.default(x, 0, aten.select.int(op(*arguments), 0, 0)), [(4, 4)])


def complex_of(*arguments, shape=(2, 4)):
    """An operator of a complex tensor whose result is complex."""
    return lambda op: (lambda x, y: aten.view_as_real.default(op(aten.complex.default(x, y), *arguments)), [shape, shape])


def spectrum(*arguments, shape=(2, 8), **keywords):
    """An operator of a real tensor whose result is complex."""
    return lambda op: (lambda x: aten.view_as_real.default(op(x, *arguments, **keywords)), [shape])


def recurrent(gates):
    sequence = (5, 2, 3)
    if gates == 4:
        return lambda op: (lambda x, h, c, w_ih, w_hh, w_bi, w_bh: op(x, [h, c], [w_ih, w_hh, w_bi, w_bh], True, 1, 0.0, False, False, False)[0],
                           [sequence, (1, 2, 4), (1, 2, 4), (16, 3), (16, 4), (16,), (16,)])
    return lambda op: (lambda x, h, w_ih, w_hh, w_bi, w_bh: op(x, h, [w_ih, w_hh, w_bi, w_bh], True, 1, 0.0, False, False, False)[0],
                       [sequence, (1, 2, 4), (4 * gates, 3), (4 * gates, 4), (4 * gates,), (4 * gates,)])


def cell(gates):
    if gates == 4:
        return lambda op: (lambda x, h, c, w_ih, w_hh, w_bi, w_bh: op(x, [h, c], w_ih, w_hh, w_bi, w_bh)[0],
                           [(2, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (16,)])
    return lambda op: (lambda x, h, w_ih, w_hh, w_bi, w_bh: op(x, h, w_ih, w_hh, w_bi, w_bh), [(2, 3), (2, 4), (4 * gates, 3), (4 * gates, 4), (4 * gates,), (4 * gates,)])


def resized(*arguments, shape=IMAGE):
    return lambda op: (lambda x: op(x, *arguments), [shape])


def conjugated():
    return lambda op: (lambda x, y: aten.view_as_real.default(aten.resolve_conj.default(op(aten.complex.default(x, y)))), [(2, 4), (2, 4)])


def quantized_input(op):
    """A quantize and a dequantize with a sigmoid between: alone they are no more than edges."""
    def model(x):
        def steps(v, scale, zero):
            return quantized.dequantize_per_tensor.default(quantized.quantize_per_tensor.default(v, scale, zero, -128, 127, torch.int8), scale, zero, -128, 127, torch.int8)
        return steps(aten.sigmoid.default(steps(x, 0.02, 3)), 1 / 256, -128)
    return model, [X]


def check_of_type(op):
    def model(x):
        op(x, None, None, torch.float32)
        return aten.relu.default(x)
    return model, [X]


BAG = torch.tensor([1, 0, 2, 3]), torch.tensor([0, 2])
VOLUME = (1, 2, 3, 4, 2)
FORMS = {
    "aten.__and__.Tensor": pair_of_integers(), "aten.__or__.Tensor": pair_of_integers(), "aten.__xor__.Tensor": pair_of_integers(),
    "aten.bitwise_and.Tensor": pair_of_integers(), "aten.bitwise_or.Tensor": pair_of_integers(), "aten.bitwise_xor.Tensor": pair_of_integers(),
    "aten.bitwise_not.default": integers(), "aten._assert_tensor_metadata.default": check_of_type,
    "aten._conj.default": conjugated(), "aten._conj_physical.default": complex_of(), "aten.conj.default": conjugated(),
    "aten.complex.default": lambda op: (lambda x, y: aten.view_as_real.default(op(x, y)), [(2, 4), (2, 4)]),
    "aten.polar.default": lambda op: (lambda x, y: aten.view_as_real.default(op(x, y)), [(2, 4), (2, 4)]),
    "aten.imag.default": lambda op: (lambda x, y: op(aten.complex.default(x, y)), [(2, 4), (2, 4)]),
    "aten.view_as_real.default": lambda op: (lambda x, y: op(aten.complex.default(x, y)), [(2, 4), (2, 4)]),
    "aten.view_as_real_copy.default": lambda op: (lambda x, y: op(aten.complex.default(x, y)), [(2, 4), (2, 4)]),
    "aten.view_as_complex.default": lambda op: (lambda x: aten.view_as_real.default(op(x)), [(3, 4, 2)]),
    "aten.view_as_complex_copy.default": lambda op: (lambda x: aten.view_as_real.default(op(x)), [(3, 4, 2)]),
    "aten._fft_r2c.default": spectrum([1], 0, True), "aten._fft_c2c.default": complex_of([1], 0, True),
    "aten._fft_c2r.default": lambda op: (lambda x, y: op(aten.complex.default(x, y), [1], 0, 6), [(2, 4), (2, 4)]),
    "aten.fft_fft.default": spectrum(), "aten.fft_fft2.default": spectrum(shape=(4, 8)), "aten.fft_fftn.default": spectrum(shape=(4, 8)),
    "aten.fft_rfft.default": spectrum(), "aten.fft_rfft2.default": spectrum(shape=(4, 8)), "aten.fft_rfftn.default": spectrum(shape=(4, 8)),
    "aten.fft_ifft.default": complex_of(), "aten.fft_ifft2.default": complex_of(), "aten.fft_ifftn.default": complex_of(),
    "aten.istft.default": lambda op: (lambda x, y, w: op(aten.complex.default(x, y), 8, 4, 8, w), [(5, 6), (5, 6), (8,)]),
    "aten._embedding_bag.default": lambda op: (lambda w, x, o: op(w, x, o)[0], [(5, 3), *BAG]),
    "aten.embedding_bag.default": lambda op: (lambda w, x, o: op(w, x, o)[0], [(5, 3), *BAG]),
    "aten._fused_rms_norm.default": lambda op: (lambda x, w: op(x, [4], w, 1e-5)[0], [X, (4,)]),
    "aten._native_batch_norm_legit_no_training.default": lambda op: (lambda x, w, w_b, w_m, w_v: op(x, w, w_b, w_m, w_v, 0.1, 1e-5)[0], [IMAGE] + 4 * [(3,)]),
    "aten._native_batch_norm_legit_functional.default": lambda op: (lambda x, w, w_b, w_m, w_v: op(x, w, w_b, w_m, w_v, False, 0.1, 1e-5)[0], [IMAGE] + 4 * [(3,)]),
    "aten.all.default": one(shape=(3, 4)), "aten.all.dim": one(-1, shape=(3, 4)),
    "aten._reshape_alias.default": one([6, 4], [4, 1]), "aten._reshape_copy.default": one([6, 4]),
    "aten._upsample_bicubic2d_aa.default": resized([3, 4], False), "aten._upsample_bicubic2d_aa.vec": resized([3, 4], False, None),
    "aten._upsample_nearest_exact2d.default": resized([12, 10]), "aten._upsample_nearest_exact2d.vec": resized([12, 10], None),
    "aten._upsample_nearest_exact3d.default": resized([6, 8, 4], shape=VOLUME), "aten._upsample_nearest_exact3d.vec": resized([6, 8, 4], None, shape=VOLUME),
    "aten.upsample_nearest3d.default": resized([6, 8, 4], shape=VOLUME), "aten.upsample_nearest3d.vec": resized([6, 8, 4], None, shape=VOLUME),
    "aten._weight_norm.default": lambda op: (lambda x, w, w_g: aten.linear.default(x, op(w, w_g, 0)), [(2, 3), (4, 3), (4, 1)]),
    "aten._weight_norm_interface.default": lambda op: (lambda x, w, w_g: aten.linear.default(x, op(w, w_g, 0)[0]), [(2, 3), (4, 3), (4, 1)]),
    "aten.absolute.default": one(), "aten.adjoint.default": one(shape=(3, 4)), "aten.negative.default": one(), "aten.contiguous.default": one(),
    "aten.special_erf.default": one(), "aten.special_expit.default": one(), "aten.special_expm1.default": one(), "aten.special_log1p.default": one(),
    "aten.affine_grid_generator.default": lambda op: (lambda x: op(x, [2, 3, 4, 5], False), [(2, 2, 3)]),
    "aten.chain_matmul.default": lambda op: (lambda x, y: op([x, y]), [(2, 3), (3, 4)]),
    "aten.clamp.default": one(-0.5, 0.5), "aten.clamp_max.default": one(0.5), "aten.clip.default": one(-0.5, 0.5),
    "aten.clip.Tensor": lambda op: (lambda x, y: op(x, y), [X, X]),
    "aten.col2im.default": one([6, 6], [2, 2], [1, 1], [0, 0], [2, 2], shape=(1, 12, 9)), "aten.im2col.default": one([2, 2], [1, 1], [0, 0], [2, 2], shape=(1, 3, 6, 6)),
    "aten.concat.default": lambda op: (lambda x, y: op([x, y], 1), [X, X]), "aten.concatenate.default": lambda op: (lambda x, y: op([x, y], 1), [X, X]),
    "aten.conv2d.padding": lambda op: (lambda x, w, w_b: op(x, w, w_b, [1, 1], "same"), [IMAGE, (4, 3, 3, 3), (4,)]),
    "aten.copy.default": two(), "aten.fill.Tensor": lambda op: (lambda x, y: op(x, y), [X, ()]),
    "aten.div.Scalar_mode": one(0.25, rounding_mode="floor"), "aten.divide.Tensor_mode": two(rounding_mode="floor"), "aten.divide.Scalar": one(0.25), "aten.true_divide.Scalar": one(0.25),
    "aten.multiply.Scalar": one(0.25), "aten.multiply.Tensor": two(), "aten.subtract.Scalar": one(0.25), "aten.fmod.Scalar": one(0.25),
    "aten.ge.Scalar": one(0.25), "aten.gt.Scalar": one(0.25),
    "aten.arange.default": made(3), "aten.arange.start": made(1, 4), "aten.arange.start_step": made(1, 7, 2), "aten.linspace.default": made(0.0, 1.0, 3),
    "aten.eye.default": made(3), "aten.eye.m": made(3, 3), "aten.empty.memory_format": lambda op: (lambda x: aten.copy.default(op([3, 3]), x), [(3, 3)]),
    "aten.full.default": made([3, 3], 0.5), "aten.ones.default": made([3, 3]), "aten.zeros.default": made([3, 3]), "aten.scalar_tensor.default": made(0.5),
    "aten.hamming_window.default": made(3), "aten.hamming_window.periodic": made(3, False), "aten.hann_window.default": made(3), "aten.hann_window.periodic": made(3, False),
    "aten.tril_indices.default": looked_up(3, 3), "aten.triu_indices.default": looked_up(3, 3), "aten.zero.default": lambda op: (lambda x, y: aten.add.Tensor(y, op(x)), [X, X]),
    "aten.gru.input": recurrent(3), "aten.lstm.input": recurrent(4), "aten.rnn_relu.input": recurrent(1), "aten.rnn_tanh.input": recurrent(1),
    "aten.gru_cell.default": cell(3), "aten.lstm_cell.default": cell(4), "aten.rnn_relu_cell.default": cell(1), "aten.rnn_tanh_cell.default": cell(1),
    "aten.linalg_matrix_norm.default": one(1, shape=(3, 4)), "aten.matrix_power.default": one(2, shape=(3, 3)),
    "aten.meshgrid.default": lambda op: (lambda x, y: aten.stack.default(op([x, y])), [(3,), (4,)]),
    "aten.moveaxis.int": one(0, 2), "aten.moveaxis.intlist": one([0, 1], [1, 2]), "aten.movedim.int": one(0, 2), "aten.swapaxes.default": one(0, 2), "aten.swapdims.default": one(0, 2),
    "aten.native_channel_shuffle.default": one(2, shape=(1, 4, 3, 5)), "aten.native_dropout.default": lambda op: (lambda x: op(x, 0.5, False)[0], [X]),
    "aten.norm.Scalar": one(2), "aten.one_hot.default": lambda op: (lambda x: op(x, 4), [torch.arange(3)]),
    "aten.pad.default": one([1, 1, 2, 1], shape=IMAGE),
    "aten.pad.default mode=reflect": one([1, 1, 2, 1], "reflect", shape=IMAGE), "aten.pad.default mode=replicate": one([1, 1, 2, 1], "replicate", shape=IMAGE),
    "aten.pad.default mode=circular": one([1, 1, 2, 1], "circular", shape=IMAGE),
    "aten.pow.Scalar": lambda op: (lambda x: op(2.0, x), [X]), "aten.reflection_pad2d.default": one([1, 1, 2, 1], shape=IMAGE),
    "aten.scatter.value": lambda op: (lambda x, w: op(x, 1, w, 0.5), [(2, 3), INTEGERS % 3]),
    "aten.scatter.value_reduce": lambda op: (lambda x, w: op(x, 1, w, 0.5, reduce="add"), [(2, 3), INTEGERS % 3]),
    "aten.searchsorted.Tensor": lambda op: (lambda w, x: op(w, x), [torch.tensor([-0.5, 0.0, 0.5]), (2, 3)]),
    "aten.select_copy.int": one(1, 1), "aten.slice_copy.Tensor": one(1, 1, 3), "aten.slice_scatter.default": lambda op: (lambda x, y: op(x, y, 1, 0, 2), [X, (2, 2, 4)]),
    "aten.special_xlog1py.other_scalar": one(0.5), "aten.special_xlog1py.self_scalar": lambda op: (lambda x: op(0.5, x), [X]),
    "aten.xlogy.Scalar_Other": one(0.5), "aten.xlogy.Scalar_Self": lambda op: (lambda x: op(0.5, x), [X]),
    "aten.split.sizes": lambda op: (lambda x: op(x, [1, 2], 1), [X]), "aten.unsafe_split_with_sizes.default": lambda op: (lambda x: op(x, [1, 2], 1), [X]),
    "aten.tensor_split.sections": lambda op: (lambda x: op(x, 2, 2), [X]), "aten.squeeze_copy.dims": one([1, 2], shape=(3, 1, 1, 4)),
    "aten.to.dtype_layout": one(dtype=torch.float32), "aten.to.other": two(), "aten.type_as.default": two(),
    "aten.where.Scalar": lambda op: (lambda x: op(aten.gt.Scalar(x, 0.0), 1.0, -1.0), [X]),
    "aten.where.ScalarOther": lambda op: (lambda x: op(aten.gt.Scalar(x, 0.0), x, -1.0), [X]),
    "aten.where.ScalarSelf": lambda op: (lambda x: op(aten.gt.Scalar(x, 0.0), 1.0, x), [X]),
    "quantized_decomposed.quantize_per_tensor.default": quantized_input, "quantized_decomposed.dequantize_per_tensor.default": quantized_input,
    "quantized_decomposed.dequantize_per_channel.default": lambda op: (
        lambda x, w, w_s, w_z: quantized.dequantize_per_tensor.default(quantized.quantize_per_tensor.default(aten.linear.default(
            quantized.dequantize_per_tensor.default(quantized.quantize_per_tensor.default(x, 0.02, 3, -128, 127, torch.int8), 0.02, 3, -128, 127, torch.int8),
            op(w, w_s, w_z, 0, -127, 127, torch.int8)), 0.05, 0, -128, 127, torch.int8), 0.05, 0, -128, 127, torch.int8),
        [(2, 3), torch.arange(-6, 6, dtype=torch.int8).reshape(4, 3), torch.full((4,), 0.01), torch.zeros(4, dtype=torch.int64)]),
}
MATRIX, ROWS, SIGNAL = (4, 16), (1, 8, 16), (1, 8, 12)
PICTURE = (1, 8, 12, 10)


def layer(shape, *weights, front=(), back=()):
    """f(x, weights, ..), as a layer of a model calls it."""
    def form(op):
        return lambda x, *w: op(x, *front, *w, *back), [shape, *weights]
    return form


# Those of torch are valid, but no layers of a model: without a batch, of one element, along the first axis.
FORMS |= {
    "aten.conv1d.default": layer(SIGNAL, (16, 8, 3), (16,), back=([1], [1])), "aten.conv1d.padding": layer(SIGNAL, (16, 8, 3), (16,), back=([1], "same")),
    "aten.conv2d.default": layer(PICTURE, (16, 8, 3, 3), (16,), back=([1, 1], [1, 1])),
    "aten.conv3d.default": layer((1, 3, 4, 6, 5), (4, 3, 2, 3, 3), (4,)),
    "aten.convolution.default": layer(PICTURE, (16, 8, 3, 3), (16,), back=([1, 1], [1, 1], [1, 1], False, [0, 0], 1)),
    "aten.conv_transpose1d.default": layer(SIGNAL, (8, 16, 2), (16,), back=([2],)), "aten.conv_transpose2d.input": layer(PICTURE, (8, 16, 2, 2), (16,), back=([2, 2],)),
    "aten.linear.default": layer(MATRIX, (8, 16), (8,)), "aten.addmm.default": lambda op: (lambda x, w, w_b: op(w_b, x, w), [MATRIX, (16, 8), (8,)]),
    "aten.mm.default": two(first=MATRIX, second=(16, 8)), "aten.matmul.default": two(first=ROWS, second=(1, 16, 8)), "aten.bmm.default": two(first=ROWS, second=(1, 16, 8)),
    "aten.avg_pool1d.default": layer(SIGNAL, back=([2], [2])), "aten.avg_pool2d.default": layer(PICTURE, back=([2, 2], [2, 2])),
    "aten.max_pool1d.default": layer(SIGNAL, back=([2], [2])), "aten.max_pool2d.default": layer(PICTURE, back=([2, 2], [2, 2])),
    "aten.max_pool2d_with_indices.default": lambda op: (lambda x: op(x, [2, 2], [2, 2])[0], [PICTURE]),
    "aten.adaptive_avg_pool1d.default": layer(SIGNAL, back=([1],)), "aten.adaptive_avg_pool2d.default": layer(PICTURE, back=([1, 1],)),
    "aten._adaptive_avg_pool2d.default": layer(PICTURE, back=([1, 1],)), "aten.adaptive_max_pool2d.default": lambda op: (lambda x: op(x, [1, 1])[0], [PICTURE]),
    "aten.mean.dim": layer(PICTURE, back=([2, 3],)), "aten.sum.dim_IntList": layer(PICTURE, back=([2, 3],)), "aten.amax.default": layer(PICTURE, back=([2, 3],)),
    "aten.batch_norm.default": layer(PICTURE, (8,), (8,), (8,), (8,), back=(False, 0.1, 1e-5, True)),
    "aten.layer_norm.default": layer(ROWS, (16,), (16,), front=([16],)), "aten.rms_norm.default": layer(ROWS, (16,), front=([16],)),
    "aten.native_layer_norm.default": lambda op: (lambda x, w, w_b: op(x, [16], w, w_b, 1e-5)[0], [ROWS, (16,), (16,)]),
    "aten.group_norm.default": layer(PICTURE, (8,), (8,), front=(2,)), "aten.native_group_norm.default": lambda op: (lambda x, w, w_b: op(x, w, w_b, 1, 8, 120, 2, 1e-5)[0], [PICTURE, (8,), (8,)]),
    "aten.instance_norm.default": lambda op: (lambda x, w, w_b: op(x, w, w_b, None, None, True, 0.1, 1e-5, True), [PICTURE, (8,), (8,)]),
    "aten.softmax.int": one(-1, shape=MATRIX), "aten._softmax.default": one(-1, False, shape=MATRIX), "aten.log_softmax.int": one(-1, shape=MATRIX),
    "aten._log_softmax.default": one(-1, False, shape=MATRIX), "aten.scaled_dot_product_attention.default": lambda op: (lambda x, y, z: op(x, y, z), 3 * [(1, 2, 8, 16)]),
    "aten.einsum.default": lambda op: (lambda x, y: op("bij,bjk->bik", [x, y]), [ROWS, (1, 16, 8)]), "aten.prelu.default": layer(PICTURE, (8,)),
    "aten.upsample_nearest2d.default": resized([24, 20], shape=PICTURE), "aten.upsample_nearest2d.vec": resized([24, 20], None, shape=PICTURE),
    "aten.upsample_bilinear2d.default": resized([24, 20], False, shape=PICTURE), "aten.upsample_bilinear2d.vec": resized([24, 20], False, None, shape=PICTURE),
    "aten.pixel_shuffle.default": one(2, shape=PICTURE), "aten.pixel_unshuffle.default": one(2, shape=PICTURE), "aten.embedding.default": lambda op: (lambda w, x: op(w, x), [(10, 8), INTEGERS]),
    "aten.cat.default": lambda op: (lambda x, y: op([x, y], 1), [PICTURE, PICTURE]), "aten.sort.default": lambda op: (lambda x: op(x, -1)[0], [MATRIX]), "aten.elu.default": one(shape=PICTURE),
    "aten.cdist.default": lambda op: (lambda x, y: op(x, y, 2.0), [MATRIX, MATRIX]), "aten._cdist_forward.default": lambda op: (lambda x, y: op(x, y, 2.0, None), [MATRIX, MATRIX]),
    "aten.as_strided.default": one([6, 4], [4, 1]), "aten.as_strided_copy.default": one([6, 4], [4, 1]),
    **{f"aten.{name}.Scalar": integers(3) for name in ("__and__", "__or__", "__xor__", "bitwise_and", "bitwise_or", "bitwise_xor", "__lshift__", "__rshift__")},
    **{f"aten.{name}.Tensor": pair_of_integers() for name in ("__lshift__", "__rshift__", "bitwise_left_shift", "bitwise_right_shift")},
    "aten.bitwise_left_shift.Tensor_Scalar": integers(1), "aten.bitwise_right_shift.Tensor_Scalar": integers(1),
    **{f"aten.{name}.default": made(8, shape=(8, 8)) for name in ("bartlett_window", "blackman_window")},
    **{f"aten.{name}.periodic": made(8, False, shape=(8, 8)) for name in ("bartlett_window", "blackman_window")},
    "aten.copysign.Scalar": one(-1.5), "aten.copysign.Tensor": two(), "aten.logspace.default": made(0.0, 1.0, 3), "aten.sinc.default": one(),
    "aten.heaviside.default": two(), "aten.isclose.default": two(0.5, 0.25), "aten.isin.Tensor_Tensor": pair_of_integers(),
    "aten.count_nonzero.default": lambda op: (lambda x: op(aten.relu.default(x)), [X]), "aten.count_nonzero.dim_IntList": lambda op: (lambda x: op(aten.relu.default(x), [1]), [X]),
    "aten.float_power.Tensor_Scalar": lambda op: (lambda x: aten.to.dtype(op(aten.abs.default(x), 1.5), torch.float32), [X]),
    "aten.floor_divide.Scalar": one(0.25), "aten.floor_divide_.Tensor": lambda op: (lambda x, y: op(aten.mul.Tensor(x, x), y), [X, X]),
    "aten.pow_.Scalar": lambda op: (lambda x: op(aten.mul.Tensor(x, x), 2), [X]), "aten.transpose_.default": lambda op: (lambda x: op(aten.mul.Tensor(x, x), 0, 2), [X]),
    "aten.trapezoid.dx": one(dx=0.5, dim=1), "aten.trapz.dx": one(dx=0.5), "aten.cumulative_trapezoid.dx": one(dim=1), "aten.gradient.scalarint": lambda op: (lambda x: op(x, spacing=2.0, dim=1)[0], [X]),
    **{f"aten.{name}.x": lambda op: (lambda x, w: op(x, w), [X, torch.tensor([0.0, 0.5, 2.0, 2.5])]) for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
    "aten.bucketize.Tensor": lambda op: (lambda x, w: op(x, w), [MATRIX, torch.tensor([-0.5, 0.0, 0.5])]),
    "aten.dropout.default": one(0.5, False), "aten.alpha_dropout.default": one(0.5, False), "aten.feature_dropout.default": one(0.5, False),
    "aten._native_batch_norm_legit.default": lambda op: (lambda x, w, w_b, w_m, w_v: op(x, w, w_b, w_m, w_v, False, 0.1, 1e-5)[0], [PICTURE] + 4 * [(8,)]),
    "aten.angle.default": lambda op: (lambda x, y: op(aten.complex.default(x, y)), [(2, 4), (2, 4)]),
    "aten.index_add.default": lambda op: (lambda x, y, w: op(x, 0, w, y), [(4, 3), (2, 3), torch.tensor([2, 0])]),
    "aten.linalg_matrix_power.default": one(2, shape=(3, 3)), "aten.prod.default": one(shape=(8,)), "aten.linalg_vecdot.default": lambda op: (lambda a, b: op(a, b), [MATRIX, MATRIX]),
    "aten.index_fill.int_Tensor": lambda op: (lambda x, w, y: op(x, 1, w, y), [MATRIX, torch.tensor([2, 0]), ()]),
    "aten.lerp.Tensor": lambda op: (lambda x, y, w: op(x, y, w), [MATRIX, MATRIX, MATRIX]), "aten.tensor_split.indices": lambda op: (lambda x: op(x, [1], 1), [MATRIX]),
    "aten._embedding_bag_forward_only.default": lambda op: (lambda w, x, o: op(w, x, o)[0], [(5, 3), *BAG]),
    "aten.embedding_bag.padding_idx": lambda op: (lambda w, x, o: op(w, x, o, False, 0, False, None, False, None)[0], [(5, 3), *BAG]),
}
FORMS |= {  # as many elements as constants say
    "aten._unique2.default": lambda op: (lambda x, w: aten.mul.Tensor(x, op(w)[0]), [(3,), torch.tensor([0, 2, 2, 1])]),
    "aten.unique_consecutive.default": lambda op: (lambda x, w: aten.mul.Tensor(x, op(w)[0]), [(3,), torch.tensor([0, 2, 2, 1])]),
    "aten.bincount.default": lambda op: (lambda x, w: aten.mul.Tensor(x, op(w)), [(3,), torch.tensor([0, 2, 2, 1])]),
    **{f"aten.{name}.default": lambda op: (lambda x, w: aten.index_select.default(x, 0, aten.select.int(op(w), 1, 0)), [(3, 4), torch.tensor([0.0, 1.0, 2.0])]) for name in ("argwhere", "nonzero")},
    **{f"aten.{name}.default": lambda op: (lambda x, w: aten.index_select.default(x, 0, op(w)[0]), [(3, 4), torch.tensor([True, False, True])]) for name in ("nonzero_numpy", "where")},
    "aten.masked_select.default": lambda op: (lambda x, w: op(x, w), [(2, 3), torch.tensor([True, False, True])]),
    "aten.repeat_interleave.Tensor": lambda op: (lambda x, w: aten.index_select.default(x, 0, op(w)), [(3, 4), torch.tensor([1, 0, 2])]),
    "aten.repeat_interleave.self_Tensor": lambda op: (lambda x, w: op(x, w, 0), [(3, 4), torch.tensor([1, 0, 2])]),
}
FORMS |= {
    "aten.vander.default": one(shape=(4,)), "aten.cartesian_prod.default": lambda op: (lambda x, y: op([x, y]), [(2,), (3,)]), "aten.histc.default": one(4, -1.0, 1.0, shape=(2, 6)), "aten.nansum.default": one([1]), "aten.nanmean.default": one([1]),
    "aten.vdot.default": two(first=(4,), second=(4,)), "aten.mH.default": one(shape=(2, 3)), "aten.matrix_H.default": one(shape=(2, 3)),
    "aten._native_batch_norm_legit.no_stats": lambda op: (lambda x: op(x, None, None, True, 0.1, 1e-5)[0], [(1, 3, 6, 5)]),
    "aten._trilinear.default": lambda op: (lambda x, w, y: op(x, w, y, [1, 3], [0], [1, 2], [2, 3]), [(2, 3), (4, 3, 5), (2, 5)]),
    "aten.quantile.scalar": one(0.25, 1), "aten.quantile.default": lambda op: (lambda x, w: op(x, w, 1), [X, torch.tensor([0.25, 0.75])]),
    "aten._assert_async.msg": lambda op: (lambda x: (op(aten.all.default(aten.gt.Scalar(x, -100.0)), "large"), aten.relu.default(x))[1], [X]),
    "aten.feature_alpha_dropout.default": one(0.5, False), "aten.rrelu_with_noise_functional.default": lambda op: (lambda x, y: op(x, y, 0.125, 0.375, False)[0], [X, X]),
}
for activation in ("relu", "relu6", "gelu", "silu", "mish", "hardswish", "hardsigmoid", "hardtanh", "leaky_relu", "sigmoid", "tanh", "softplus", "selu", "celu", "log_sigmoid", "hardshrink", "softshrink"):
    FORMS[f"aten.{activation}.default"] = one(shape=PICTURE)
for pair in ("add", "sub", "mul", "div"):
    FORMS[f"aten.{pair}.Tensor"] = two(first=PICTURE, second=PICTURE)

# What no trace has.
TEXTS = {
    "aten.to.device": "input x : f32[2,3]\nk = aten.to.device(self=x, device=cpu, dtype=f32) : f32[2,3]\ny = aten.relu.default(self=k) : f32[2,3]\noutput y",
    "aten.lift_fresh.default": "input x : f32[2,3]\nk = aten.lift_fresh.default(self=x) : f32[2,3]\ny = aten.relu.default(self=k) : f32[2,3]\noutput y",
    **{f"aten.{op}.default": f"input x : f32[2,3]\nr = aten.{op}.default({arguments}) : f32[2,3]\nz = aten.mul.Tensor(self=r, other=0.0) : f32[2,3]\n"
       "y = aten.add.Tensor(self=x, other=z) : f32[2,3]\noutput y"
       for op, arguments in (("rand", "size=[2,3]"), ("randn", "size=[2,3]"), ("rand_like", "self=x"), ("randn_like", "self=x"))},
    "aten.item.default": "input x : f32[2,3]\nparameter n : s64[] 2\nk = aten.item.default(self=n) :\ny = aten.relu.default(self=x) : f32[2,3]\noutput y",
    "aten._local_scalar_dense.default":
        "input x : f32[2,3]\nparameter n : s64[] 2\nk = aten._local_scalar_dense.default(self=n) :\ny = aten.relu.default(self=x) : f32[2,3]\noutput y",
}
