// A plugin of clang and flang: loops around calls that may reach MPI count their rounds in memory of the
// thread, and a note in the object says where that is and which loops there are. No call is put in and nothing
// is to be linked; without a reader (rounds.c) a program does what it did.
//
// It runs before the optimiser, so that loops are those of the source. LLVM 14 to 19.
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <set>
#include <string>
#include <vector>

using namespace llvm;

namespace {

bool begins(StringRef name, StringRef with) { return name.substr(0, with.size()) == with; }

// Functions that lead to MPI only by calling back what they are given: those of the languages' libraries.
bool harmless(const Function &F, const TargetLibraryInfo &TLI) {
  LibFunc known;
  if (TLI.getLibFunc(F, known))
    return true;
  StringRef name = F.getName();
  for (StringRef p : {"_Fortran", "_ZNSt", "_ZNKSt", "_ZSt", "_Zn", "_Zd", "__cxa_", "__kmpc", "__isoc", "omp_"})
    if (begins(name, p))
      return true;
  static const std::set<StringRef> more = {
      "MPI_Wtime",     "PMPI_Wtime",    "__assert_fail", "__clang_call_terminate", "__errno_location", "clock",  "clock_gettime", "drand48", "erand48",
      "gettimeofday",  "lrand48",       "mpi_wtime_",    "nanosleep",              "rand",             "rand_r", "random",        "srand",   "srand48",
      "srandom",       "time",          "usleep",        "abort",                  "exit",
  };
  return more.count(name) != 0;
}

struct Loops : PassInfoMixin<Loops> {
  std::set<const Function *> may; // of this unit, lead to MPI as far as is known
  std::string text;               // a line for each loop
  unsigned loops = 0;
  const TargetLibraryInfo *library = nullptr;

  static bool isRequired() { return true; } // also without optimisation

  bool reaches(const Instruction &I) const {
    auto *C = dyn_cast<CallBase>(&I);
    if (!C || C->isInlineAsm() || isa<IntrinsicInst>(C))
      return false;
    auto *F = dyn_cast<Function>(C->getCalledOperand()->stripPointerCasts());
    if (!F || leads(*F))
      return true; // !F: through a pointer
    for (const Value *A : C->args()) // qsort, a parallel region
      if (auto *G = dyn_cast<Function>(A->stripPointerCasts()); G && leads(*G))
        return true;
    return false;
  }

  bool leads(const Function &F) const {
    if (!F.isDeclaration())
      return may.count(&F) != 0;
    return !harmless(F, *library) && !F.doesNotAccessMemory() && !F.onlyReadsMemory();
  }

  bool reaches(const BasicBlock &B) const {
    for (const Instruction &I : B)
      if (reaches(I))
        return true;
    return false;
  }

  bool finds(Function &F, FunctionAnalysisManager &FAM) {
    library = &FAM.getResult<TargetLibraryAnalysis>(F);
    for (BasicBlock &B : F)
      if (reaches(B))
        return may.insert(&F).second;
    return false;
  }

  bool reaches(const Loop &L) const {
    for (BasicBlock *B : L.blocks())
      if (reaches(*B))
        return true;
    return false;
  }

  // A coroutine may go on in another thread, where the memory of the first may be gone.
  static bool coroutine(const Function &F) {
#if LLVM_VERSION_MAJOR >= 15
    return F.isPresplitCoroutine();
#else
    return F.hasFnAttribute("coroutine.presplit");
#endif
  }

  // The line of a loop. Where the compiler says none of its own, that of its condition or first instruction.
  static unsigned line(const Loop &L) {
    DebugLoc D = L.getStartLoc();
    unsigned n = D ? D.getLine() : 0;
    if (L.getLoopID())
      return n;
    for (const Instruction &I : *L.getHeader())
      if (const DebugLoc &X = I.getDebugLoc(); X && X.getLine() > 0 && X->getScope()->getSubprogram() == L.getHeader()->getParent()->getSubprogram())
        n = n ? std::min(n, X.getLine()) : X.getLine();
    return n;
  }

  // Whether a branch is on the line where the loop begins: what leads to it is a condition then, not the beginning of a round. Without
  // lines what calls is taken for a round.
  static bool condition(const Loop &L, const BranchInst &Br) {
    DebugLoc D = Br.getDebugLoc();
    return D && D.getLine() > 0 && D.getLine() == line(L);
  }

  // How a && b and a || b end that stand in the condition of a loop: a block with a phi that B, where a is tested,
  // gives a constant to. Null where there is none, or where b may lead to MPI and isn't known to be in the condition.
  BasicBlock *joined(const Loop &L, BasicBlock *B) const {
    for (BasicBlock *end : successors(B)) {
      auto *Br = dyn_cast<BranchInst>(end->getTerminator());
      auto *value = Br && Br->isConditional() ? dyn_cast<PHINode>(Br->getCondition()) : nullptr;
      if (!value || value->getParent() != end || value->getBasicBlockIndex(B) < 0 || !isa<Constant>(value->getIncomingValueForBlock(B)))
        continue;
      std::set<BasicBlock *> seen{B};
      std::vector<BasicBlock *> work(pred_begin(end), pred_end(end));
      bool silent = true, known = condition(L, *Br);
      while (silent && !work.empty()) {
        BasicBlock *X = work.back();
        work.pop_back();
        if (!seen.insert(X).second)
          continue;
        silent = L.contains(X) && X != L.getHeader() && (known || !reaches(*X)) && seen.size() < 64;
        work.insert(work.end(), pred_begin(X), pred_end(X));
      }
      if (silent)
        return end;
    }
    return nullptr;
  }

  // The first block of a round: behind those that do no more than find out whether there is one.
  BasicBlock *first(const Loop &L) const {
    BasicBlock *B = L.getHeader();
    for (BasicBlock *at = B;;) {
      auto *Br = dyn_cast<BranchInst>(at->getTerminator());
      if (!Br || !Br->isConditional() || (reaches(*at) && !condition(L, *Br)))
        return B;
      bool in0 = L.contains(Br->getSuccessor(0)), in1 = L.contains(Br->getSuccessor(1));
      if (in0 && in1) {
        if (!(at = joined(L, at)))
          return B;
        continue;
      }
      BasicBlock *next = Br->getSuccessor(in0 ? 0 : 1);
      if (next->getSinglePredecessor() != at || next == L.getHeader())
        return B;
      B = at = next;
    }
  }

  static Type *pointer(LLVMContext &C) {
#if LLVM_VERSION_MAJOR >= 17
    return PointerType::getUnqual(C);
#else
    return Type::getInt8PtrTy(C);
#endif
  }

  void describe(const Function &F, const std::vector<Loop *> &list) {
    DISubprogram *S = F.getSubprogram();
    for (Loop *L : list) {
      int parent = -1;
      for (Loop *Q = L->getParentLoop(); Q && parent < 0; Q = Q->getParentLoop())
        for (size_t i = 0; i < list.size(); i++)
          if (list[i] == Q)
            parent = int(loops + i);
      text += (S ? S->getFilename() : StringRef(F.getParent()->getSourceFileName())).str() + '\t' + std::to_string(line(*L)) + '\t' +
              std::to_string(parent) + '\t' + (S && !S->getName().empty() ? S->getName() : F.getName()).str() + '\n';
    }
  }

  // The rounds of all loops of the unit; how many there are is known only in the end.
  static GlobalVariable *memory(Module &M, unsigned n) {
    auto *T = ArrayType::get(Type::getInt64Ty(M.getContext()), n);
    return new GlobalVariable(M, T, false, GlobalValue::InternalLinkage, Constant::getNullValue(T), "spoor.rounds", nullptr, GlobalValue::GeneralDynamicTLSModel);
  }

  static Value *here(IRBuilder<> &B, GlobalVariable *G) {
#if LLVM_VERSION_MAJOR >= 16
    return B.CreateThreadLocalAddress(G);
#else
    return G;
#endif
  }

  struct Found {
    Function *F;
    unsigned first;
    std::vector<BasicBlock *> rounds;
  };

  static void count(const Found &f, GlobalVariable *G) {
    LLVMContext &C = G->getContext();
    Type *I64 = Type::getInt64Ty(C), *P = pointer(C);
    IRBuilder<> B(&*f.F->getEntryBlock().getFirstInsertionPt());
    while (isa<AllocaInst>(B.GetInsertPoint()))
      B.SetInsertPoint(B.GetInsertBlock(), std::next(B.GetInsertPoint()));
    Value *at = B.CreatePointerCast(here(B, G), P);
    // Once for each call: the optimiser would ask for it in each round, in shared libraries by a call.
    auto *Keep = InlineAsm::get(FunctionType::get(P, {P}, false), "", "=r,0", false);
    at = B.CreatePointerCast(B.CreateCall(Keep, {at}), PointerType::getUnqual(I64));
    for (size_t i = 0; i < f.rounds.size(); i++) {
      IRBuilder<> R(&*f.rounds[i]->getFirstInsertionPt());
      Value *word = R.CreateConstInBoundsGEP1_64(I64, at, f.first + i);
      R.CreateStore(R.CreateAdd(R.CreateLoad(I64, word), ConstantInt::get(I64, 1)), word);
    }
  }

  // .note.spoor: distances from the note to a function that gives the calling thread's memory, and to the text;
  // how many loops.
  void note(Module &M, GlobalVariable *G) {
    LLVMContext &C = M.getContext();
    Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C), *P = pointer(C);
    Function *W = Function::Create(FunctionType::get(P, false), GlobalValue::InternalLinkage, "spoor.where", M);
    W->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> B(BasicBlock::Create(C, "", W));
    B.CreateRet(B.CreatePointerCast(here(B, G), P));
    Constant *S = ConstantDataArray::getString(C, text, true);
    auto *X = new GlobalVariable(M, S->getType(), true, GlobalValue::PrivateLinkage, S, "spoor.text");
    StructType *T = StructType::get(C, {I32, I32, I32, ArrayType::get(Type::getInt8Ty(C), 8), I32, I32, I32, I32}, true);
    auto *N = new GlobalVariable(M, T, true, GlobalValue::PrivateLinkage, nullptr, "spoor.note");
    auto from = [&](Constant *to) {
      return ConstantExpr::getTrunc(ConstantExpr::getSub(ConstantExpr::getPtrToInt(to, I64), ConstantExpr::getPtrToInt(N, I64)), I32);
    };
    auto number = [&](uint32_t n) { return ConstantInt::get(I32, n); };
    N->setInitializer(ConstantStruct::get(
        T, {number(6), number(16), number(1), ConstantDataArray::getString(C, StringRef("spoor\0\0", 7), true), from(W), from(X), number(loops), number(0)}));
    N->setSection(".note.spoor");
    N->setAlignment(Align(4));
    appendToUsed(M, {N});
  }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    StringRef triple(M.getTargetTriple());
    bool known = begins(triple, "x86_64") || begins(triple, "aarch64");
    if (!known || triple.find("linux") == StringRef::npos || M.getNamedMetadata("spoor.loops"))
      return PreservedAnalyses::all();
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    may.clear();
    text.clear();
    loops = 0;
    for (bool more = true; more;) {
      more = false;
      for (Function &F : M)
        if (!F.isDeclaration() && !may.count(&F))
          more |= finds(F, FAM);
    }
    std::vector<Found> all;
    for (Function &F : M) {
      if (F.isDeclaration() || !may.count(&F) || F.hasFnAttribute(Attribute::Naked) || coroutine(F))
        continue;
      library = &FAM.getResult<TargetLibraryAnalysis>(F);
      std::vector<Loop *> list;
      for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
        if (reaches(*L))
          list.push_back(L);
      if (list.empty())
        continue;
      describe(F, list);
      all.push_back({&F, loops, {}});
      for (Loop *L : list)
        all.back().rounds.push_back(first(*L));
      loops += unsigned(list.size());
    }
    if (!loops)
      return PreservedAnalyses::all();
    M.getOrInsertNamedMetadata("spoor.loops"); // link-time optimisation may come here again
    GlobalVariable *G = memory(M, loops);
    for (const Found &f : all)
      count(f, G);
    note(M, G);
    return PreservedAnalyses::none();
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "spoor", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback([](ModulePassManager &M, auto) { M.addPass(Loops()); });
          }};
}
